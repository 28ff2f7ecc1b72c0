import os
import sys

import psutil

# Niceness of training. On Linux the page process, at 0, then gets a core at once; otherwise training uses nearly all of it.
TRAINING = 15
DEDICATED_PROCESS = 19  # of a process with a single run: it gives way to workers whose processes many runs share
JOBS = 10  # of the processes that answer a page's questions: somebody waits for each, so training gives way to them

# The largest niceness, by default that of the system. On a machine that other programs keep busy, training would otherwise get
# almost no time.
NICENESS_VARIABLE = "ATTENTION_LAB_NICENESS"


def give_way(niceness: int) -> None:
    """Lower the priority of this process to ``niceness`` or the largest allowed, permanently. Windows has one fitting class instead."""
    niceness = min(niceness, int(os.environ.get(NICENESS_VARIABLE, DEDICATED_PROCESS)))
    if sys.platform == "win32":
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
