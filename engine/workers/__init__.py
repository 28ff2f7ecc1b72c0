"""The worker processes: the pool and its supervisor, the protocol, and in each worker the scheduler of its runs.

Only ``worker.py`` and ``live_run.py`` import torch, in a process of their own.
"""
