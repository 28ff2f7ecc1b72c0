"""The operating system's memory limit: what asks for too much gets an error with the sentence, and the process goes on."""

import os
import subprocess
import sys

import pytest

from engine.foundation.child import KEPT_BLOCKS
from engine.foundation.fork_server import ROOT

SCRIPT = """
import psutil, torch
from engine.hosting.host import limit_memory
from engine.foundation.errors import error_in_words
mib = 2**20

def take(size):
    torch.ones(size, dtype=torch.uint8)

limit_memory(psutil.Process().memory_info().rss + 256 * mib)
for _ in range(8):
    take(128 * mib)  # given back each time
try:
    take(512 * mib)
except Exception as error:
    print(error_in_words(error))
take(128 * mib)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such a limit")
def test_a_tensor_that_is_too_large_is_an_error_and_the_process_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The machine ran out of memory; a smaller batch_size or seq_len needs less.\n"


LET_GO = """
import psutil, torch
from engine.hosting.host import free_memory
large = [torch.ones(2**20) for _ in range(30)]
last = torch.ones(1000)  # the blocks below it cannot be given back by themselves
before = psutil.Process().memory_info().rss
del large
free_memory()
print((before - psutil.Process().memory_info().rss) // 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps blocks for later")
def test_what_a_run_took_is_given_back_at_its_end() -> None:
    environment = {**os.environ, **KEPT_BLOCKS}
    done = subprocess.run([sys.executable, "-c", LET_GO], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
