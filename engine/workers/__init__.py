"""The worker processes: the pool and its supervisor, the protocol, the scheduler in each worker, and what a host allows.

Torch-free, except for what ``worker.py`` imports in its own process.
"""
