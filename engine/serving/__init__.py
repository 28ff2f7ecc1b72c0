"""The pool of worker processes and its supervisor, the protocol, the scheduler in each worker; the limits of a host, its memory
and cores, and the shares of its visitors. A reader of the science need not open it.

Only ``worker.py`` and ``live_run.py`` import torch, in separate processes.
"""
