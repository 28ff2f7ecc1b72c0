import argparse
import math
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from engine.cli.arguments import add_settings, config_from, refuse, settings_in
from engine.cli.cluster import add_scheduler, events_of, run_on
from engine.cli.save import PreparedRun, interrupted_run, new_folder, save_events
from engine.cli.terminal import console, memory_table, print_json, table
from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names
from engine.estimate.warnings import leak_of
from engine.foundation.provenance import provenance
from engine.runs import events
from engine.runs.folder import RunFolder
from engine.runs.record_options import RecordOptions
from engine.runs.run import Run
from engine.runs.summary import run_summary
from engine.tasks import TASKS
from engine.tasks.text import user_texts

INTERRUPTED = 130
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--text-file", type=Path, metavar="FILE", help="train on this text: UTF-8, at most 1 MB; stored as --text"
    )
    parser.add_argument(
        "--save", type=Path, metavar="FOLDER",
        help="save config, events, snapshots and weights there; after Ctrl-C, --resume continues",
    )  # fmt: skip
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="continue an interrupted run that --save saved")
    add_scheduler(parser)


def run(arguments: argparse.Namespace) -> int:
    folder, config = (None, _config(arguments)) if arguments.resume is None else _resumed(arguments)
    # On the terminal nobody sees a snapshot, which takes as long as many steps.
    record = RecordOptions(snapshots=arguments.json or arguments.save is not None or folder is not None)
    with training(arguments.scheduler, config, record, folder) as prepared:
        if arguments.save is not None:
            folder = new_folder(arguments.save, config)
        run_events = prepared.events if folder is None else save_events(prepared, folder)
        code = show_as_json(run_events) if arguments.json else show_to_person(config, run_events)
    if code == 0 and TASKS[config.task].corpus:
        show_counting_models(config, as_json=arguments.json)
    return code


def _config(arguments: argparse.Namespace) -> RunConfig:
    if arguments.text_file is not None:
        on_text = [name for name, task in TASKS.items() if task.corpus]
        if (arguments.task or RunConfig().task) not in on_text:
            raise ValueError(f"--text-file is for --task {' and --task '.join(on_text)} only.")
        arguments.text = user_texts.keep_file(arguments.text_file)
    return config_from(arguments)


def _resumed(arguments: argparse.Namespace) -> tuple[RunFolder, RunConfig]:
    others = {name: getattr(arguments, name) for name in ("text_file", "save", "scheduler") if getattr(arguments, name)}
    refuse(settings_in(arguments) | others, "--resume")
    return interrupted_run(arguments.resume)


@contextmanager
def training(
    scheduler: str, config: RunConfig, record: RecordOptions, interrupted: RunFolder | None = None
) -> Iterator[PreparedRun]:
    """A run on the cluster of that scheduler, or on this machine if it is empty; from the state of an ``interrupted`` run, or from
    its beginning. An interrupt here also stops a run on the cluster."""
    if scheduler:
        with run_on(scheduler, config, record) as there:
            yield PreparedRun(events_of(there), partial(_copy_weights, there), None)
        return
    import torch  # only once the settings are valid

    from engine.model.build import save_weights
    from engine.training.train import begin, train

    torch.set_num_threads(1)  # as in a worker: the same numbers, and faster at these sizes
    state = begin(config)
    if interrupted is not None:
        state.load(interrupted.state)
    yield PreparedRun(train(config, record=record, state=state), partial(save_weights, state.model), state)


def _copy_weights(run: Run, file: Path) -> None:
    if run.weights is not None:  # a run that failed early has none
        shutil.copyfile(run.weights, file)


def show_counting_models(config: RunConfig, *, as_json: bool) -> None:
    from engine.analysis.text.questions import counting_models

    counting = counting_models(config)
    if as_json:
        print_json({"event": "counting_models", **counting})
    elif counting["levels"]:
        unknown = counting["facts"]["unknown"] / max(1, counting["facts"]["held_out"])
        known = {name: f"{math.exp(nats):.1f}" for name, nats in counting["known"].items()} if unknown else {}
        rows = []
        for name, nats in counting["levels"].items():
            label = name if name == "unigram" else f"Kneser-Ney {name}"
            rows.append((label, f"{nats:.3f}", f"{math.exp(nats):.1f}", *([known[name]] if known else [])))
        columns = ("model", "loss", "perplexity", *(["known perplexity"] if known else []))
        title = "Counting models on the same held-out windows"
        title += f"; {unknown:.1%} of the held-out tokens are unknown" if unknown else ""
        console().print(table(title, columns, rows))
        if leak_of(config):
            console().print(
                "The run's score leaks. Compare this table only with the run's perplexity without later symbols."
            )


def show_as_json(run_events: Iterable[events.Event]) -> int:
    code, step = FAILED, 0
    try:
        for event in run_events:
            step = getattr(event, "step", step)
            if isinstance(event, events.Measuring):
                continue
            origin = {"provenance": provenance()} if isinstance(event, events.Started) else {}
            print_json({**events.to_json(event), **origin})
            code = 0 if isinstance(event, events.Finished) else code
    except KeyboardInterrupt as interrupt:
        print_json(events.to_json(events.Ended(step, "stopped", str(interrupt) or "Interrupted.")))
        return INTERRUPTED
    return code


def show_to_person(config: RunConfig, run_events: Iterable[events.Event]) -> int:
    output, landmarks = console(), list[events.Event]()
    bar_width = None if output.is_terminal else 12  # on a terminal it gives way to the numbers beside it
    steps = MofNCompleteColumn(table_column=Column(no_wrap=True))
    remaining = TimeRemainingColumn(table_column=Column(no_wrap=True))
    columns = (steps, BarColumn(bar_width), remaining, TextColumn("{task.description}"))
    with Progress(TextColumn("step"), *columns, console=output) as bar:
        task = bar.add_task("", total=config.steps)
        try:
            for event in run_events:
                if not isinstance(event, events.Progress) or event.validation is not None:
                    landmarks.append(event)
                match event:
                    case events.Started():
                        bar.console.print(started_sentence(event))
                    case events.Progress(validation=dict() as validation):
                        bar.update(task, completed=event.step, description=in_words(config, validation))
                    case events.Progress():
                        bar.update(task, completed=event.step)
                    case events.Measuring():
                        bar.update(task, description="measuring the result")
                    case events.Failed():
                        bar.console.print(f"[red]Failed.[/] {event.reason}")
                        return FAILED
                    case events.Ended():
                        bar.console.print(f"[red]Not finished.[/] {event.reason}")
                        return FAILED
                    case events.Finished():
                        last = event
        except KeyboardInterrupt as interrupt:
            bar.console.print(str(interrupt) or "Stopped.")
            return INTERRUPTED
    output.print(result_table(last))
    for remark in run_summary(config, landmarks):
        output.print(remark.sentence)
    output.print(memory_table(last.memory, "Measured memory"))
    return 0


def started_sentence(event: events.Started) -> str:
    expected = "" if event.steps_per_second is None else f", about {event.steps_per_second:,.0f} steps per second"
    return f"{event.parameters:,} parameters on {event.device}{expected}. {event.note}".strip()


def in_words(config: RunConfig, metrics: dict[str, Any]) -> str:
    # no more: a terminal of 80 columns has no room for them
    named = ("loss", metric_names(config)[0], "unknown_share")
    return "  ".join(f"{name.replace('_', ' ')} {metrics[name]:.3f}" for name in named if metrics.get(name))


def result_table(event: events.Finished) -> Table:
    rows_by_length: list[dict[str, Any]] = [{"length": "trained", **event.metrics}, *event.by_length]
    unknown = any(row.get("unknown_share") for row in rows_by_length)
    names = [name for name in event.metrics if unknown or not name.startswith("known_")]
    rows = (
        (str(row["length"]), *(f"{row[name]:.3f}" if name in row else "" for name in names), str(row.get("note", "")))
        for row in rows_by_length
    )
    columns = [name.replace("_", " ") for name in ("length", *names, "note")]
    title = f"Held-out sequences after {event.step} steps, {event.seconds:.2f} s of training"
    return table(title, columns, rows, left=0)
