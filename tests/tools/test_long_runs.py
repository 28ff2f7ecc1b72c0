"""The program that measures long runs: it goes on where it was cut off, and a run that has learned ends early."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.experiments.experiment import Arm
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Row
from engine.experiments.long_runs import FILE, SOLVED_MARKS, is_stored, marks, read_long_runs, rows
from engine.runs.events import Failed, Progress
from tests.engine.experiments.fake_issue import fake_issue
from tools import long_runs

SEEDS = (0, 1)
Patch = pytest.MonkeyPatch


def tiny() -> Issue:
    """An issue of three arms that train in a moment, of which the last one is not compared."""
    figure = fake_issue().key_figure
    rows = tuple(Row(name, name, "accuracy") for name in ("table", "none", "sinusoids"))
    encodings = {"table": "learned", "none": "nope", "sinusoids": "sinusoidal"}
    return fake_issue(
        slug="tiny",
        base={"task": "k_back", "steps": 4, "seq_len": 6, "d_model": 8, "n_heads": 1, "n_layers": 1, "batch_size": 4},
        arms=tuple(
            Arm(name, "control", {"pos_encoding": one}, tuned=name == "table") for name, one in encodings.items()
        ),
        claims=(),
        key_figure=KeyFigure(**{**vars(figure), "rows": rows}),
    )


@pytest.fixture
def issue(monkeypatch: Patch) -> Issue:
    """The issue, trained in this process on few seeds."""

    @contextmanager
    def pool(_: int) -> Iterator[Any]:
        def mapped(function: Callable[[int], Any], seeds: Iterable[int], chunksize: int) -> list[Any]:
            return list(map(function, seeds))

        yield SimpleNamespace(map=mapped)

    made = tiny()
    monkeypatch.setitem(ISSUES, "tiny", made)
    monkeypatch.setattr(long_runs, "CONFIRMATORY_SEEDS", SEEDS)
    monkeypatch.setattr(long_runs.multiprocessing, "get_context", lambda _: SimpleNamespace(Pool=pool))
    return made


def test_the_compared_arms_are_measured_and_stored_arms_are_not_measured_again(
    issue: Issue, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    long_runs.main(["tiny", "--contrast", "--write", str(tmp_path)])
    assert capsys.readouterr().out.splitlines() == ["tiny: table", "tiny: none"]
    found = read_long_runs(issue, tmp_path)
    assert found.keys() == {("table", "accuracy"), ("none", "accuracy")}
    for runs in found.values():
        assert runs.steps == marks(4)
        assert runs.values.shape == (len(SEEDS), len(marks(4)))
        assert ((runs.values >= 0) & (runs.values <= 1)).all()
    own = issue.config(issue.arm("table")).learning_rate
    assert len(rows(tmp_path)["tiny"]["table"]["tried"]) == len(long_runs.RATES)
    assert found["table", "accuracy"].rate in [pytest.approx(own * times, rel=0.05) for times in long_runs.RATES]
    assert rows(tmp_path)["tiny"]["none"]["tried"] == {}, "its rate is its condition"
    assert found["none", "accuracy"].rate == issue.config(issue.arm("none")).learning_rate

    measured: list[str] = []
    measure = long_runs.measured_arm
    monkeypatch.setattr(
        long_runs, "measured_arm", lambda issue, arm, *more: measured.append(arm.name) or measure(issue, arm, *more)
    )
    before = json.loads((tmp_path / FILE).read_text())["tiny"]
    long_runs.main(["tiny", "--write", str(tmp_path)])
    assert measured == ["sinusoids"]
    after = json.loads((tmp_path / FILE).read_text())["tiny"]
    assert {name: after[name] for name in before} == before

    monkeypatch.setitem(ISSUES, "tiny", fake_issue(**{**vars(issue), "base": {**issue.base, "batch_size": 8}}))
    assert not is_stored(ISSUES["tiny"], "table", ["accuracy"], tmp_path), "its settings have changed"


def test_a_run_that_has_learned_ends_and_keeps_its_number(issue: Issue, monkeypatch: Patch) -> None:
    values = [0.5, 0.99, 0.98, 0.99, 0.995, 1.0]
    measured = iter(values)
    monkeypatch.setattr(long_runs, "evaluate", lambda *_: {"accuracy": next(measured)})
    curves = long_runs.long_curves("tiny", "table", ["accuracy"], 0.01, 0)
    assert curves == {"accuracy": [*values, *[1.0] * (len(marks(4)) - len(values))]}
    assert next(measured, None) is None
    assert SOLVED_MARKS == 3


def test_a_number_that_is_measured_at_the_end_alone_is_measured_at_each_mark(issue: Issue, monkeypatch: Patch) -> None:
    """As accuracies at other lengths are."""
    lengths = {**vars(issue), "base": {**issue.base, "test_lengths": (8,)}}
    monkeypatch.setitem(ISSUES, "tiny", fake_issue(**lengths))
    curves = long_runs.long_curves("tiny", "none", ["accuracy", "accuracy@8"], 0.01, 0)
    assert {name: len(curve) for name, curve in curves.items()} == {
        "accuracy": len(marks(4)),
        "accuracy@8": len(marks(4)),
    }


def test_a_run_that_fails_is_named(issue: Issue, monkeypatch: Patch) -> None:
    monkeypatch.setattr(long_runs, "train", lambda *_, **__: iter([Failed(3, "A value was not finite.")]))
    with pytest.raises(RuntimeError, match=r"tiny, none, seed 1, rate 0\.01: A value was not finite\."):
        long_runs.long_curves("tiny", "none", ["accuracy"], 0.01, 1)


def with_numbers(issue: Issue, monkeypatch: Patch, **changes: Any) -> None:
    monkeypatch.setitem(ISSUES, "tiny", fake_issue(**{**vars(issue), **changes}))


def test_of_a_run_that_fails_is_told_how_long_it_stayed_finite(issue: Issue, monkeypatch: Patch) -> None:
    step = marks(4)[2]
    settings = {**issue.base, "optimizer": "sgd", "learning_rate": 0.1}
    with_numbers(issue, monkeypatch, base=settings)
    whole = long_runs.long_curves("tiny", "none", ["finite"], 0.1, 0)
    assert whole == {"finite": [1.0] * len(marks(4))}

    train = long_runs.train

    def failing(*given: Any, **more: Any) -> Iterator[Any]:
        for event in train(*given, **more):
            yield event
            if getattr(event, "step", 0) == step and isinstance(event, Progress):
                yield Failed(step + 1, "A value was not finite.")
                return

    monkeypatch.setattr(long_runs, "train", failing)
    curves = long_runs.long_curves("tiny", "none", ["finite"], 0.1, 0)
    assert curves == {"finite": [1.0] * 3 + [0.0] * (len(marks(4)) - 3)}


def test_a_gap_is_measured_against_the_last_training_batches_and_ends_no_run(issue: Issue, monkeypatch: Patch) -> None:
    monkeypatch.setattr(long_runs, "evaluate", lambda *_: {"loss": 9.0, "accuracy": 1.0})
    curves = long_runs.long_curves("tiny", "none", ["gap", "loss"], 0.01, 0)
    assert [len(curve) for curve in curves.values()] == [len(marks(4))] * 2
    assert all(5 < gap < 9 for gap in curves["gap"]), "less the loss of a model that hardly learns"


def test_the_rate_of_an_arm_without_an_accuracy_is_that_of_the_lowest_loss_along_the_run(
    issue: Issue, monkeypatch: Patch
) -> None:
    own = issue.config(issue.arm("table")).learning_rate
    lowest = dict(zip(sorted((own, own * 10**-0.5, own * 0.1)), (2.0, 1.0, 3.0), strict=True))

    def curves(slug: str, arm: str, metrics: list[str], rate: float, seed: int) -> dict[str, list[float]]:
        low = next(low for near, low in lowest.items() if rate == pytest.approx(near, rel=0.05))
        return {metric: [4.0, low, 9.0] for metric in metrics}

    monkeypatch.setattr(long_runs, "long_curves", curves)
    figure = KeyFigure(**{**vars(issue.key_figure), "rows": tuple(Row(arm, arm, "gap") for arm in ("table", "none"))})
    arms = tuple(Arm(arm.name, arm.role, arm.settings, "gap", tuned=arm.tuned) for arm in issue.arms)
    with_numbers(issue, monkeypatch, key_figure=figure, arms=arms)
    pool = SimpleNamespace(map=lambda function, seeds, chunksize: list(map(function, seeds)))
    row = long_runs.measured_arm(ISSUES["tiny"], ISSUES["tiny"].arm("table"), ["gap"], pool)
    assert row["rate"] == pytest.approx(sorted(lowest)[1], rel=0.05)
    assert sorted(row["tried"].values()) == [-3.0, -2.0, -1.0]
