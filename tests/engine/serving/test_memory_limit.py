import os
import subprocess
import sys

import pytest

from engine.serving.processes.child import ALLOCATOR_VARIABLES
from engine.serving.processes.fork_server import ROOT

SCRIPT = """
import os, psutil, torch
from engine.serving.host import free_memory, limit_memory
from engine.foundation.errors import error_in_words
mib = 2**20

large = [torch.ones(mib) for _ in range(30)]
last = torch.ones(1000)  # the blocks below it cannot be given back by themselves
before = psutil.Process().memory_info().rss
del large
free_memory()
print((before - psutil.Process().memory_info().rss) // mib)

def take(size):
    torch.ones(size, dtype=torch.uint8)

ends, end = os.pipe()
for beside in (False, True):
    if beside and os.fork() == 0:  # has all of this process's memory and libraries, too
        os.close(end)
        os.read(ends, 1)
        os._exit(0)
    limit_memory(psutil.Process().memory_full_info().uss + 256 * mib)
    for _ in range(8):
        take(128 * mib)  # given back each time
    try:
        take(320 * mib)
    except Exception as error:
        print(error_in_words(error))
    take(128 * mib)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such a limit, and only glibc blocks for later")
def test_what_a_run_took_is_given_back_and_a_tensor_that_is_too_large_is_an_error_and_the_process_goes_on() -> None:
    """Alone, and beside a process that shares its memory."""
    environment = {**os.environ, **ALLOCATOR_VARIABLES}
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    given_back, *lines = done.stdout.splitlines()
    assert int(given_back) > 100
    assert lines == ["The machine ran out of memory; a smaller batch_size or seq_len needs less."] * 2
