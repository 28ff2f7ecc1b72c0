"""The benchmark of a GPU, at tiny sizes on the CPU; and its parts that judge."""

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from engine.architectures import ARCHITECTURES
from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.runs.events import Ended, Event, Failed, Finished, Progress
from engine.settings.costs import Memory
from engine.tasks import TASKS
from tests.benchmarks.gpu import agreement, nanogpt, soak, steps
from tests.benchmarks.gpu.table import MARKS, Aim, Notebook, markdown, read_lines, write_into
from tests.engine.training.test_steps import StandIn

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "gpu.md"
SIZE = nanogpt.Size(16, 6, 2, 2, 4)


@pytest.mark.thorough
def test_the_command_writes_each_row_into_the_document(tmp_path: Path) -> None:
    document, numbers = tmp_path / "gpu.md", tmp_path / "gpu.jsonl"
    shutil.copy(DOCUMENT, document)
    command = [sys.executable, "-m", "tests.benchmarks.gpu", "--tiny", "--device", "cpu", "--soak", "1"]
    subprocess.run([*command, "--json", str(numbers), "--write", str(document)], cwd=ROOT, check=True)
    _, cells = read_lines(numbers)
    by_row = {(cell.part, cell.row): set[str]() for cell in cells}
    for cell in cells:
        by_row[cell.part, cell.row].add(cell.column)
    peers = {f"nanoGPT {name}" for name in ("fp32", "TF32", "bf16")}
    each = {*peers, "ours", "ours, eager", "recorded / bare", "FLOPs"}
    sizes = "d8 L4 x 1, batch 4", "d16 L8 x 1, batch 4"
    assert each | {"ours, one CPU core"} <= by_row["steps", sizes[0]]
    assert each <= by_row["steps", sizes[1]]
    assert {"one seed (s)", "eight seeds (s)", "eight seeds (ms per step)"} <= by_row["seeds", sizes[0]]
    assert {"the first time (s)", "seconds"} <= by_row["issue", "missing-mask, 1 seeds, on the device"]
    assert {"visitors", "the last first point (s)"} <= by_row["class", "visitors who press Train at once"]
    assert {row for part, row in by_row if part == "agreement"} == {agreement.ON_CPU, agreement.EAGER}
    assert {soak.UNEXPLAINED, soak.LOST} <= by_row["mixed", "random runs"]
    words = [cell for cell in cells if isinstance(cell.value, str) and cell.value]
    assert words == [], "each was measured"
    times = [cell.value for cell in cells if cell.part in ("steps", "issue", "class")]
    assert all(value > 0 for value in times if not isinstance(value, str))
    judged = {cell.column: cell.value for cell in cells if cell.part in ("agreement", "mixed")}
    assert (judged[agreement.TO_LOOK_AT], judged[soak.UNEXPLAINED], judged[soak.LOST]) == (0, 0, 0)
    section = document.read_text("utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    assert all(f"\n| {row} | " in section for _, row in by_row)
    assert "nanoGPT TF32" not in DOCUMENT.read_text("utf-8").partition(MARKS[0])[0], (
        "the tables stand between the marks"
    )


def test_the_document_has_a_place_for_the_tables_and_names_the_card(tmp_path: Path) -> None:
    section = DOCUMENT.read_text("utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    assert re.match(r".*NVIDIA .*driver \d+.*torch 2\.\d+.*commit [0-9a-f]{8}.*2026", section)
    other = tmp_path / "other.md"
    other.write_text("no marks", "utf-8")
    with pytest.raises(ValueError, match="once each"):
        write_into(other, section)
    assert other.read_text("utf-8") == "no marks"


def test_what_cannot_be_measured_is_named_in_its_cell_and_the_rest_is_measured(tmp_path: Path) -> None:
    notes = Notebook("a card", tmp_path / "cells.jsonl")
    notes.measure("steps", "d32", "a", lambda: 1 / 0)
    notes.measure("steps", "d32", "b", lambda: {"b": 2.0, "c": 30.0, "d": -0.1})
    aims = [
        Aim("steps", "d32", "b", 0.1, "c"), Aim("steps", "d32", "b", 0.05, "c"), Aim("steps", "d32", "a", 1),
        Aim("steps", "d32", "b", 2, "d"), Aim("steps", "d32", "not tried", 1), Aim("steps", "d64", "b", 1),
    ]  # fmt: skip
    assert markdown("a card", notes.cells, {"steps": "ms"}, aims).splitlines() == [
        "a card", "",
        "| ms | a | b | c | d |", "|---|--:|--:|--:|--:|",
        "| d32 | ZeroDivisionError: division by zero | 2 | 30 | -0.1 |", "",
        "| aim | at most | measured | met |", "|---|--:|--:|---|",
        "| d32: b / c | 0.1 | 0.0667 | yes |", "| d32: b / c | 0.05 | 0.0667 | **no** |", "| d32: a | 1 | not measured | **no** |",
        "| d32: b / d | 2 | not measured | **no** |",
    ]  # fmt: skip
    assert read_lines(tmp_path / "cells.jsonl") == ("a card", notes.cells)


def test_our_nanogpt_reads_no_later_token_ties_its_head_and_learns() -> None:
    torch.manual_seed(0)
    model = nanogpt.NanoGPT(SIZE, 10)
    tokens = torch.randint(0, 10, (4, 6))
    later = tokens.clone()
    later[:, 4:] = (later[:, 4:] + 1) % 10
    assert torch.allclose(model(tokens)[:, :4], model(later)[:, :4], atol=1e-6)
    assert not torch.allclose(model(tokens)[:, 4:], model(later)[:, 4:], atol=1e-6)
    d = SIZE.d_model  # 12 d^2 + 13 d per layer: attention, MLP and norms with their biases
    assert sum(p.numel() for p in model.parameters()) == 10 * d + 6 * d + 2 * (12 * d * d + 13 * d) + 2 * d
    step = nanogpt.stepper(SIZE, 10, "cpu", half=True, compiled=False)
    losses = [step(number % 2).item() for number in range(100)]
    assert losses[0] == pytest.approx(math.log(10), abs=0.1)
    assert losses[-1] < losses[0] - 0.1


def test_a_difference_is_looked_at_where_it_is_large_for_its_precision() -> None:
    given = {"same": {}, "far": {}, "half": {"dtype": "bfloat16"}, "drawn": {"dropout": 0.1}, "short": {}, "failed": {}}
    ones = {name: [2.0, 1.0] for name in given}
    others = {
        "same": [2.0, 1.001],
        "far": [2.0, 1.01],
        "half": [2.0, 1.01],
        "drawn": [2.1, 1.2],
        "short": [2.0],
        "failed": "No.",
    }
    across = agreement.compared(given, ones, others, same_device=False)
    assert (across["cases"], across[agreement.TO_LOOK_AT]) == (6, 3)
    assert across["those"] == "far 0.01; short inf; failed inf No."
    on_one = agreement.compared(given, ones, others, same_device=True)
    assert on_one[agreement.TO_LOOK_AT] == 4, "there the same numbers are drawn"
    assert agreement.difference([math.nan], [math.nan]) == math.inf


def test_a_run_that_fails_is_no_loss_and_its_reason_is_kept() -> None:
    failing = {
        "task": "k_back",
        "seq_len": 8,
        "steps": 60,
        "learning_rate": 10.0,
        "grad_clip": None,
        "norm": "none",
        "n_layers": 4,
    }
    reason = agreement.losses(failing, "cpu")
    assert isinstance(reason, str)
    assert "no longer finite" in reason
    assert len(agreement.losses({"steps": 3}, "cpu")) == 3


def test_there_are_cases_for_every_encoding_family_and_task() -> None:
    flat = [parse({**settings, "device": "cpu"}).flat() for settings in agreement.cases().values()]
    assert len(flat) == len(agreement.cases()) >= 51
    for name, registry in (("pos_encoding", ENCODINGS), ("family", ARCHITECTURES), ("task", TASKS)):
        assert {row[name] for row in flat} == set(registry)


def progress(*numbers: int) -> list[Event]:
    return [Progress(step, 1.0, 1.0, 0.01, 1.0) for step in numbers]


@pytest.mark.parametrize(
    ("state", "numbers", "ending", "rate", "explained"),
    [
        ("finished", (1, 2, 3), Finished(3, {}, [], Memory(0, 0, 0, 0, 0), 1.0), 0.001, True),
        ("stopped", (1,), Ended(1, "stopped"), 0.001, True),
        ("finished", (1, 3), Finished(3, {}, [], Memory(0, 0, 0, 0, 0), 1.0), 0.001, False),
        ("stopped", (1, 2, 2), Ended(2, "stopped"), 0.001, False),
        ("lost", (1,), Ended(1, "lost"), 0.001, False),
        ("failed", (1,), Failed(2, "The loss is no longer finite.", 0, "loss"), soak.TOO_HIGH, True),
        ("failed", (1,), Failed(2, "The loss is no longer finite.", 0, "loss"), 0.001, False),
        ("failed", (1,), Failed(2, "CUDA error: an illegal memory access."), soak.TOO_HIGH, False),
    ],
)
def test_a_run_has_ended_as_its_config_says_or_is_looked_at(
    state: str, numbers: tuple[int, ...], ending: Event, rate: float, explained: bool
) -> None:
    events = [*progress(*numbers), ending]
    run = SimpleNamespace(state=state, ending=ending, config=parse({"learning_rate": rate}), events=events)
    assert soak.explained(run) is explained  # type: ignore[arg-type]


def test_the_time_of_a_step_is_that_between_two_and_not_that_of_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight steps at once every eight hundredths of a second, after a slow first one."""
    moments = iter([1.0 + 0.08 * (step // 8) for step in range(400)])
    monkeypatch.setattr(steps, "events_of", lambda config, eager=False: iter(progress(*range(1, config.steps + 1))))
    monkeypatch.setattr(steps.time, "perf_counter", lambda: next(moments))
    assert steps.milliseconds(parse({"steps": 400})) == pytest.approx(10, rel=0.01)


def test_eager_steps_are_those_of_a_state_without_a_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = StandIn()
    monkeypatch.setattr("engine.training.train.recorder_for", lambda config, device: recorder)
    config = parse({"task": "k_back", "seq_len": 6, "steps": 4, "device": "cpu"})
    eager = [e.loss for e in steps.events_of(config, eager=True) if isinstance(e, Progress)]
    assert not recorder.counts, "nothing is recorded"
    captured = [e.loss for e in steps.events_of(config) if isinstance(e, Progress)]
    assert recorder.counts["recorded"]
    assert captured == pytest.approx(eager, rel=1e-5)
