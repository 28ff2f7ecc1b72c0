"""The worker processes: the pool and its supervisor, the protocol, the scheduler in each worker, and what a host allows.

Only ``worker.py`` imports torch, in its own process.
"""
