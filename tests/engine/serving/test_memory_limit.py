"""The operating system's memory limit: what asks for too much gets an error with the sentence, and the process goes on."""

import os
import subprocess
import sys

import pytest
import torch

from engine.serving import host
from engine.serving.processes.child import FORKS, KEPT_BLOCKS
from engine.serving.processes.fork_server import ROOT

SCRIPT = """
import os, psutil, torch
from engine.serving.host import limit_memory
from engine.foundation.errors import error_in_words
mib = 2**20

def take(size):
    torch.ones(size, dtype=torch.uint8)

ends, end = os.pipe()
if {beside} and os.fork() == 0:  # has all of this process's memory and libraries, too
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such a limit")
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a process that shares its memory"])
def test_a_tensor_that_is_too_large_is_an_error_and_the_process_goes_on(beside: bool) -> None:
    script = SCRIPT.format(beside=beside)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The machine ran out of memory; a smaller batch_size or seq_len needs less.\n"


WARM_UP = """
import gc, importlib, re
from engine.serving.processes.forked import WARM
for module in WARM:
    importlib.import_module(module)
gc.collect()
print(re.search(r"Anonymous: +(\\d+) kB", open("/proc/self/smaps_rollup").read())[1])
"""


@pytest.mark.skipif(not FORKS, reason="nothing is shared without a fork server")
def test_what_workers_share_has_the_room_that_a_host_sets_aside_for_it() -> None:
    assert host.brings_cuda() == (torch.version.cuda is not None)
    done = subprocess.run([sys.executable, "-c", WARM_UP], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 0.6 * host.SHARED_BYTES < int(done.stdout) * 2**10 < host.SHARED_BYTES


LET_GO = """
import psutil, torch
from engine.serving.host import free_memory
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
