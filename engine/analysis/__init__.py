"""What explorer pages ask of a worker: pure functions from configs and arrays to numpy and plain Python."""
