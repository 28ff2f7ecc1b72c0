"""From many people's runs to processes: the pool and its supervisor, the protocol, in each worker the scheduler of its runs; the
limits of a host, its memory and cores, and the shares of its visitors. A reader of the science need not open it.

Only ``worker.py`` and ``live_run.py`` import torch, in separate processes.
"""
