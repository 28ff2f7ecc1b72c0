"""A forked worker has all that a run may need beside its numbers: no first run imports a module, reads the code or starts git."""

import subprocess
import sys

import torch

from engine.serving import host
from engine.serving.processes.child import FORKS
from tests.serving import ROOT

CODE = """
import gc, os, sys
from contextlib import suppress
from importlib import import_module
from engine.serving.processes.forked import WARM
for module in WARM:
    import_module(module)
warm = set(sys.modules)
gc.collect()
found = open("/proc/self/smaps_rollup" if os.path.exists("/proc/self/smaps_rollup") else os.devnull)
anonymous = next((line.split()[1] for line in found if line.startswith("Anonymous")), 0)
from engine.settings.architectures import ARCHITECTURES
from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.runs.events import Progress
from engine.settings.errors import ConfigError
from engine.tasks import TASKS
from engine.training.train import train
chosen = [{"pos_encoding": name} for name in ENCODINGS] + [{"family": name} for name in ARCHITECTURES]
chosen += [{"task": name, "family": "encoder"} for name in TASKS if not TASKS[name].corpus]
trained = 0
for own in chosen:
    with suppress(ConfigError):  # a task for decoders alone
        config = parse({**own, "steps": 1, "batch_size": 2, "device": "cpu"})
        trained += any(isinstance(event, Progress) for event in train(config))
from engine.foundation.provenance import provenance
opened = []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event in ("open", "subprocess.Popen") else None)
provenance()
print(anonymous, trained > 30, opened, sorted(name for name in set(sys.modules) - warm if name.startswith("engine.")))
"""


def test_no_first_run_imports_a_module_or_looks_for_the_origin_and_what_all_share_has_its_room() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True)
    shared, _, modules = done.stdout.strip().partition(" ")
    assert modules == "True [] []", done.stderr
    assert host.brings_cuda() == (torch.version.cuda is not None)
    if FORKS:  # else nothing is shared
        assert 0.6 * host.SHARED_BYTES < int(shared) * 2**10 < host.SHARED_BYTES
