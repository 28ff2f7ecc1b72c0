"""``train``: one run, its events as a progress bar and a table, or as JSON lines."""

import argparse
import math
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from engine.cli.arguments import add_settings, config_from
from engine.cli.cluster import add_scheduler, events_of, run_on
from engine.cli.terminal import memory_table, print_json, table
from engine.config.run_config import RunConfig
from engine.runs import events
from engine.runs.folder import RunFolder
from engine.runs.record_options import RecordOptions
from engine.runs.run import Run
from engine.tasks import TASKS
from engine.text import own

INTERRUPTED = 130
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--text-file", type=Path, metavar="FILE", help="train on this text: UTF-8, at most 1 MB; it is kept as --text"
    )
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="leave config, events, snapshots and weights there")
    add_scheduler(parser)


def run(given: argparse.Namespace) -> int:
    if given.text_file is not None:
        on_text = [name for name, task in TASKS.items() if task.corpus]
        if (given.task or RunConfig().task) not in on_text:
            raise ValueError(f"--text-file is for --task {' and --task '.join(on_text)} only.")
        given.text = own.keep_file(given.text_file)
    config = config_from(given)
    # On the terminal nobody sees a snapshot, which takes as long as many steps.
    shown = given.json or given.save is not None
    with training(given.scheduler, config, RecordOptions(snapshots=shown)) as (run_events, save_weights):
        if given.save is not None:
            run_events = saving(run_events, config, save_weights, given.save)
        code = (show_as_json if given.json else show_to_person)(config, run_events)
    if code == 0 and TASKS[config.task].corpus:
        show_counting_models(config, as_json=given.json)
    return code


@contextmanager
def training(
    scheduler: str, config: RunConfig, record: RecordOptions
) -> Iterator[tuple[Iterable[events.Event], Callable[[Path], None]]]:
    """The events of a run, and how its weights are saved after them: trained on the cluster of that scheduler, or on this machine where
    it is empty. A run that is interrupted here is stopped there."""
    if scheduler:
        with run_on(scheduler, config, record) as there:
            yield events_of(there), partial(_copy_weights, there)
        return
    import torch  # only once the settings are valid

    from engine.model.build import save_weights
    from engine.training.train import prepare, train

    torch.set_num_threads(1)  # as in a worker: the same numbers, and faster at these sizes
    model = prepare(config)
    yield train(config, model, record), partial(save_weights, model)


def _copy_weights(run: Run, file: Path) -> None:
    if run.weights is not None:  # a run that failed early has none
        shutil.copyfile(run.weights, file)


def show_counting_models(config: RunConfig, *, as_json: bool) -> None:
    """Print the scores of Kneser-Ney models on the same held-out windows, with the same vocabulary."""
    from engine.analysis.text.questions import counting_models

    told = counting_models(config)
    if as_json:
        print_json({"event": "counting_models", **told})
    elif told["levels"]:
        rows = (
            (name if name == "unigram" else f"Kneser-Ney {name}", f"{nats:.3f}", f"{math.exp(nats):.1f}")
            for name, nats in told["levels"].items()
        )
        Console().print(table("Counting models on the same held-out windows", ("model", "loss", "perplexity"), rows))


def saving(
    run_events: Iterable[events.Event], config: RunConfig, save_weights: Callable[[Path], None], path: Path
) -> Iterator[events.Event]:
    """Pass the events on and store them in the app's run format, and at the end the weights. Raises ValueError where the folder
    exists."""
    folder = RunFolder(path)
    try:
        folder.write_config(path.name, config, owner="", created=time())
    except FileExistsError:
        raise ValueError(f"save is {path}; allowed is a folder that does not exist yet.") from None
    for event in run_events:
        if not isinstance(event, events.Measuring):
            folder.write_events([event])
        yield event
    save_weights(folder.weights)


def show_as_json(config: RunConfig, run_events: Iterable[events.Event]) -> int:
    code, step = FAILED, 0
    try:
        for event in run_events:
            step = getattr(event, "step", step)
            if isinstance(event, events.Measuring):
                continue
            print_json(events.to_json(event))
            code = 0 if isinstance(event, events.Finished) else code
    except KeyboardInterrupt:
        print_json(events.to_json(events.Ended(step, "stopped", "Interrupted.")))
        return INTERRUPTED
    return code


def show_to_person(config: RunConfig, run_events: Iterable[events.Event]) -> int:
    console = Console()
    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(TextColumn("step"), *columns, console=console) as bar:
        task = bar.add_task("", total=config.steps)
        try:
            for event in run_events:
                match event:
                    case events.Started():
                        bar.console.print(started_sentence(event))
                    case events.Progress(validation=dict() as validation):
                        bar.update(task, completed=event.step, description=in_words(validation))
                    case events.Progress():
                        bar.update(task, completed=event.step)
                    case events.Measuring():
                        bar.update(task, description="measuring the result")
                    case events.Failed():
                        bar.console.print(f"[red]Failed.[/] {event.reason}")
                        return FAILED
                    case events.Ended():
                        bar.console.print(f"[red]It did not finish.[/] {event.reason}")
                        return FAILED
                    case events.Finished():
                        last = event
        except KeyboardInterrupt:
            bar.console.print("Stopped.")
            return INTERRUPTED
    console.print(result_table(last))
    console.print(memory_table(last.memory, "Measured memory"))
    return 0


def started_sentence(event: events.Started) -> str:
    expected = "" if event.steps_per_second is None else f", about {event.steps_per_second:,.0f} steps per second"
    return f"{event.parameters:,} parameters on {event.device}{expected}. {event.note}".strip()


def in_words(metrics: dict[str, Any]) -> str:
    return "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in metrics.items())


def result_table(event: events.Finished) -> Table:
    """Held-out metrics: a row for the trained length, then one for each test length."""
    names = list(event.metrics)
    found: list[dict[str, Any]] = [{"length": "trained", **event.metrics}, *event.by_length]
    rows = (
        (str(row["length"]), *(f"{row[name]:.3f}" if name in row else "" for name in names), str(row.get("note", "")))
        for row in found
    )
    columns = [name.replace("_", " ") for name in ("length", *names, "note")]
    return table(
        f"Held-out sequences after {event.step} steps, {event.seconds:.2f} s of training", columns, rows, left=0
    )
