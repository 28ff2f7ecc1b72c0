"""Record the runs that come with the app: ``python -m tools.record reverse``, ``hops`` or ``words``.

The run of ``words``, which the lab shows for its task on words, has fewer events, weights of two bytes, and the scores of the
counting models.
"""

import json
import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time

import numpy as np
import torch

import engine
from engine.analysis.text.questions import counting_models
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, parse
from engine.model.build import save_weights
from engine.runs.events import ARRAYS, Event, Measuring, Progress, Snapshot
from engine.runs.folder import RunFolder
from engine.runs.record_options import SNAPSHOT_NOW
from engine.training.train import prepare, train
from tools import settings

FOLDER = Path(engine.__file__).parent / "runs" / "recorded" / "reverse"
TWO = "task=hops vocab_size=5 seq_len=16 pos_encoding=rope n_layers=2 n_heads=1 d_model=32 learning_rate=0.004"
# A small model of two layers with one head each. With this seed all answers to the watched sequence come along the path of the
# two: layer 1 marks the symbol that each follows, layer 2 reads by the marks.
HOPS = parse(settings(f"{TWO} steps=300 seed=914"))
# the shown runs by their folders: one with the lab's first settings, and one of two layers
RECORDED_RUNS = {"reverse": RunConfig(), "hops": HOPS}
# the folder of the run on words, and the file in it with the scores of the counting models
WORDS, COUNTING_FILE = FOLDER.parent / "words", "counted.json"
Thin = Callable[[Generator[Event, str | None, None]], Iterator[Event]]
EVERY = 10  # steps from one snapshot to the next, a divisor of all steps: a player then moves at an even pace


def record(config: RunConfig, thin: Thin, folder: Path, *, half: bool = False) -> None:
    """Train a config and save its run, with the events that ``thin`` keeps, in a folder that does not exist yet.
    ``half``: weights in half precision."""
    torch.set_num_threads(1)  # as in a worker: the same numbers
    run, model = RunFolder(folder), prepare(config)
    run.write_config(folder.name, config, owner="", created=time())
    for event in thin(train(config, model)):
        run.write_events([event])
    save_weights(model.half() if half else model, run.weights)
    gather_snapshots(run)


def gather_snapshots(run: RunFolder) -> None:
    arrays = {
        f"{event.step}/{group}/{name}": array
        for event in run.read_events() if isinstance(event, Snapshot)
        for group in ARRAYS for name, array in getattr(event, group).items()
    }  # fmt: skip
    np.savez_compressed(run.snapshots, allow_pickle=False, **arrays)
    shutil.rmtree(run.path / "snapshots")


def few_events(events: Iterable[Event], steps: int) -> Iterator[Event]:
    last = -1.0
    for event in events:
        if isinstance(event, Snapshot) and (event.step >= 1.7 * last or event.step == steps):
            last = max(1, event.step)
            yield replace(event, samples=event.samples[:1], more_patterns={})
        elif isinstance(event, Progress) and (event.validation is not None or event.step % 20 == 0):
            yield replace(event, grad_norms=None)
        elif not isinstance(event, Snapshot | Progress | Measuring):
            yield event


def at_even_steps(events: Generator[Event, str | None, None], every: int) -> Iterator[Event]:
    """Replace a training's snapshots by those at every so many steps and at the last."""
    request, last = None, -1
    while True:
        try:
            event = events.send(request)
        except StopIteration:
            return
        even = isinstance(event, Progress | Snapshot) and event.step % every == 0
        request = SNAPSHOT_NOW if isinstance(event, Progress) and even else None
        if isinstance(event, Snapshot):
            if not even or event.step == last:
                continue
            last = event.step
        if not isinstance(event, Measuring):
            yield event


def main(name: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if name == WORDS.name:
        config = PRESETS["next-word"].config
        record(config, partial(few_events, steps=config.steps), folder, half=True)
        (folder / COUNTING_FILE).write_text(json.dumps(counting_models(config)), "utf-8")
    else:
        record(RECORDED_RUNS[name], partial(at_even_steps, every=EVERY), folder)


if __name__ == "__main__":
    main(sys.argv[1], FOLDER.parent / sys.argv[1])
