"""Load on the real server: simulated browser sessions that train, follow event streams and move controls."""
