"""The worker processes: a supervised pool, the wire to its children, fair turns, what a host allows.

Torch-free, but for what ``worker.py`` imports in its own process.
"""
