"""Captured steps give the events of single ones, also when paused, saved and resumed in between. A stand-in on the CPU takes the
place of a GPU's recorder."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.prediction import predict
from engine.runs.events import ARRAYS, Ended, Event, Failed, Finished, Measuring, Progress, Snapshot
from engine.runs.folder import RunFolder
from engine.runs.record_options import AHEAD, SNAPSHOT_NOW
from engine.runs.request import RunRequest
from engine.serving.live_run import SAVE_EVERY, LiveRun, TrainingModule
from engine.serving.protocol import Start
from engine.training.recorder import Recorder, Repeated, recorder_for, why_not_recorded
from engine.training.state import TrainingState
from engine.training.train import begin, train
from tests.engine.foundation.test_visitor import Clock
from tests.engine.training.test_state import CONFIGS, SMALL

CLOSE = 1e-5  # the largest relative difference of two losses: a fused update rounds its learning rate to float32


# operations that a device cannot record: the program needs their values
WAITS = ("aten._local_scalar_dense.default", "aten.equal.default", "aten.nonzero.default")


class Tape(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the operations of some work with the very tensors that they read and return, as a CUDA graph does. Changes of tensors
    are undone, and nothing can be read from new tensors."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Callable[[], object]] = []
        self.made: list[Tensor] = []

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if str(func) in WAITS:
            raise RuntimeError("The work waits for a number.")
        schema = func._schema  # noqa: SLF001 - torch has no public name for it
        if schema.is_mutable:
            self.operations.append(lambda: func(*args, **given))
            return given.get("out", args[0]) if schema.returns else None
        result = func(*args, **given)
        read = {leaf.untyped_storage().data_ptr() for leaf in tree_leaves((args, given)) if isinstance(leaf, Tensor)}
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        allocated = [leaf for leaf in made if leaf.untyped_storage().data_ptr() not in read]  # the others are views
        if allocated:
            self.made += allocated

            def again() -> None:
                for saved, new in zip(
                    made, [x for x in tree_leaves(func(*args, **given)) if isinstance(x, Tensor)], strict=True
                ):
                    saved.copy_(new)

            self.operations.append(again)
        return result

    def repeat(self) -> None:
        with torch.no_grad():
            for operation in self.operations:
                operation()


@dataclass
class StandIn:
    """A recorder on the CPU, which counts. With ``refuses``, it records nothing."""

    refuses: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def active(self) -> Iterator[None]:
        self.counts["active"] += 1
        yield

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        if self.refuses:
            raise RuntimeError("This cannot be recorded.\nA second line.")
        self.counts["recorded"] += 1
        with torch.random.fork_rng(), Tape() as tape:  # no random number is drawn yet
            work()
        for tensor in tape.made:
            if tensor.is_floating_point():
                tensor.detach().fill_(float("nan"))  # a device has computed nothing yet

        def repeat() -> None:
            self.counts["repeated"] += 1
            tape.repeat()

        return repeat

    def staging(self, like: Tensor) -> Tensor:
        return torch.zeros_like(like, device="cpu")


def captured_state(config: RunConfig, recorder: Recorder | None = None, ahead: int = AHEAD) -> TrainingState:
    state = begin(config)
    state.recorder, state.ahead = recorder or StandIn(), ahead
    return state


def events_of(config: RunConfig, state: TrainingState | None = None) -> list[Event]:
    state = state or begin(config)
    return [event for event in train(config, state=state) if not isinstance(event, Measuring)]


def assert_alike(one: list[Event], other: list[Event]) -> None:
    """Check for the same events, with close numbers and arrays: Adam also moves weights whose gradient is rounding, as of a bias
    that softmax cancels."""
    assert [type(event) for event in one] == [type(event) for event in other]
    for a, b in zip(one, other, strict=True):
        if isinstance(a, Progress) and isinstance(b, Progress):
            assert (a.step, a.learning_rate) == (b.step, b.learning_rate)
            assert b.loss == pytest.approx(a.loss, rel=CLOSE, nan_ok=True)
            assert b.grad_norm == pytest.approx(a.grad_norm, rel=1e-3)
            assert (a.grad_norms is None, a.validation is None) == (b.grad_norms is None, b.validation is None)
            assert b.metrics == pytest.approx(a.metrics, abs=0.02)
            assert (b.grad_norms or {}) == pytest.approx(a.grad_norms or {}, rel=1e-2, abs=1e-6)
            assert (b.validation or {}) == pytest.approx(a.validation or {}, rel=1e-2, abs=0.02, nan_ok=True)
        if isinstance(a, Snapshot) and isinstance(b, Snapshot):
            assert a.step == b.step
            for group in ARRAYS:
                assert getattr(a, group).keys() == getattr(b, group).keys()
                for name, array in getattr(a, group).items():
                    np.testing.assert_allclose(getattr(b, group)[name], array, rtol=5e-2, atol=2e-2)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, own in CONFIGS.items()
        if {"optimizer": "muon", "randomized_positions": 4, "coupled_positions": True}.items().isdisjoint(own.items())
    ],
)
def test_captured_steps_give_the_events_of_single_ones(name: str) -> None:
    config, recorder = parse({**SMALL, **CONFIGS[name]}), StandIn()
    assert_alike(events_of(config), events_of(config, captured_state(config, recorder)))
    if config.family != "gru":  # the CPU's own kernels change their inputs unsaid
        assert recorder.counts["recorded"] >= 3, "a step, what is measured beside it, and a validation"
        assert recorder.counts["repeated"] >= config.steps - 2, "nearly every step"


@pytest.mark.parametrize("encoding", [*ENCODINGS, "designed, table", "designed, network", "designed, convolution"])
def test_they_do_so_with_every_encoding(encoding: str) -> None:
    name, _, features = encoding.partition(", ")
    design = {"design_features": features} if features else {}
    config = parse({**SMALL, "steps": 6, "task": "k_back", "n_layers": 1, "pos_encoding": name, **design})
    recorder = StandIn()
    assert_alike(events_of(config), events_of(config, captured_state(config, recorder)))
    assert recorder.counts["recorded"] >= 3, "nothing in it waits for a number"


def test_there_is_a_recorded_step_for_each_length_and_the_first_of_each_is_taken_as_it_is() -> None:
    config, recorder = parse({**SMALL, "task": "k_back", "min_seq_len": 5, "steps": 60}), StandIn()
    events = events_of(config, captured_state(config, recorder))
    assert_alike(events_of(config), events)
    steps_of_four_lengths, validation, probe = 4, 1, 1
    measured = recorder.counts["recorded"] - steps_of_four_lengths - validation - probe
    assert 0 <= measured <= 4, "lengths whose steps were measured twice or more"


def test_what_cannot_be_recorded_is_computed_as_it_is_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    config, recorder = parse({**SMALL, "steps": 8}), StandIn(refuses=True)
    assert_alike(events_of(config), events_of(config, captured_state(config, recorder)))
    assert "This cannot be recorded." in caplog.text
    assert "A second line." not in caplog.text


def failing_at(step: int, state: TrainingState) -> TrainingState:
    """The state of a run whose embedding gives NaN for the batch of one step."""
    bad = begin(state.config).upcoming(step)[-1].inputs

    def spoil(_: object, given: tuple[Tensor], vectors: Tensor) -> Tensor:
        return vectors * (float("nan") if torch.equal(given[0], bad) else 1.0)

    state.model.embedding.register_forward_hook(spoil)  # type: ignore[union-attr]
    return state


@pytest.mark.parametrize(
    ("settings", "step"),
    [
        *(({}, step) for step in (1, 2, 9, 12)),
        *((settings, 9) for settings in ({"dropout": 0.2}, {"optimizer": "sgd"}, {"grad_clip": None})),
    ],
    ids=str,
)
def test_a_failure_among_steps_that_were_handed_over_together_is_told_as_if_each_had_been_taken_alone(
    settings: dict[str, Any], step: int
) -> None:
    config = parse({**SMALL, **settings})
    states = failing_at(step, begin(config)), failing_at(step, captured_state(config))
    single, captured = (events_of(config, state) for state in states)
    assert_alike(single, captured)
    assert isinstance(captured[-1], Failed)
    assert captured[-1].step == step
    assert vars(captured[-1]) == vars(single[-1]), "the same step, layer, tensor and remedy"
    one, other = (state.model.state_dict() for state in states)
    for name in one.keys() - {"stack.blocks.0.attention.k.bias"}:  # its gradient is rounding: softmax takes it out
        torch.testing.assert_close(other[name], one[name], rtol=1e-3, atol=1e-4, msg=f"{name} is as before the step")


def test_the_events_of_steps_that_are_ahead_follow_without_a_pause_and_at_most_as_many_as_allowed() -> None:
    config, most = parse({**SMALL, "steps": 40}), 5
    state, ahead = captured_state(config, ahead=most), set[int]()
    for event in train(config, state=state):
        if isinstance(event, Progress):
            ahead.add(state.step - event.step)
    assert max(ahead) in range(1, most)
    single = captured_state(config, ahead=1)
    assert {single.step - event.step for event in train(config, state=single) if isinstance(event, Progress)} == {0}


# In a worker


def live_run(
    config: RunConfig,
    folder: Path,
    recorder: StandIn,
    *,
    n_tokens: int | None = None,
    clock: Callable[[], float] = monotonic,
) -> LiveRun:
    def begin_captured(config: RunConfig, prediction: object) -> TrainingState:
        return captured_state(config, recorder, ahead=1)

    training = cast(TrainingModule, SimpleNamespace(begin=begin_captured, train=train))
    begins = Start("run", RunRequest(config), predict(config), str(folder), n_tokens)
    return LiveRun(begins, training, RunFolder(folder), clock)


def computing(run: LiveRun, after: int) -> list[Event]:
    """Train a run past a step, and until a device computes further ones; return its events so far."""
    events = list[Event]()
    while run.step < after:
        run.advance()
        events += run.deliver()
    run.advance()  # hands steps over
    return events


def steps_in(events: list[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Progress)]


def test_a_run_gives_other_runs_their_turn_while_the_device_computes(tmp_path: Path) -> None:
    run = live_run(parse({**SMALL, "steps": 200}), tmp_path, StandIn())
    turns = 0
    while not run.over:
        run.advance()
        turns += 1
        run.deliver()
    assert turns >= 200 / AHEAD


def test_a_pause_shows_the_model_at_the_last_event_and_single_steps_are_single(tmp_path: Path) -> None:
    run = live_run(parse({**SMALL, "steps": 200}), tmp_path, StandIn())
    computing(run, 30)
    run.pause()
    events = run.deliver()
    assert isinstance(events[-1], Snapshot)
    assert events[-1].step == run.step
    run.save()
    assert run.saved_step == run.step, "no step is ahead of the events"
    before = run.step
    for expected in (before + 1, before + 2):
        run.allow_step()
        while not run.waiting:
            run.advance()
        assert run.step == expected
    assert steps_in(run.deliver()) == [before + 1, before + 2]


@pytest.mark.parametrize("config", [{}, {"dropout": 0.3}, {"min_seq_len": 5, "task": "k_back"}], ids=str)
def test_a_run_that_leaves_its_worker_while_the_device_computes_goes_on_as_if_it_had_not(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    run_config = parse({**SMALL, **config, "steps": 60})
    whole = events_of(run_config, captured_state(run_config))
    first = live_run(run_config, tmp_path, StandIn())
    given = computing(first, 20)
    first.settle()
    assert first.save()
    first.close()
    given += first.deliver()
    second = live_run(run_config, tmp_path, StandIn(), n_tokens=first.step)
    while not second.over:
        second.advance()
        given += second.deliver()
    assert steps_in(given) == list(range(1, run_config.steps + 1))
    losses = {event.step: event.loss for event in given if isinstance(event, Progress)}
    assert losses == pytest.approx({e.step: e.loss for e in whole if isinstance(e, Progress)}, rel=CLOSE)
    assert isinstance(given[-1], Finished)


def test_a_step_that_is_asked_for_while_the_device_computes_stops_the_run_after_it(tmp_path: Path) -> None:
    run = live_run(parse({**SMALL, "steps": 200}), tmp_path, StandIn())
    computing(run, 30)
    run.allow_step()
    settled = run.step
    while not run.waiting:
        run.advance()
    assert run.step == settled + 1
    events = run.deliver()
    assert isinstance(events[-1], Snapshot)
    assert steps_in(events) == list(range(steps_in(events)[0], run.step + 1))


@pytest.mark.parametrize("ask", [lambda run: run.set_pace(1000.0), lambda run: run.stop(), lambda run: None])
def test_snapshots_stand_after_the_step_that_they_show_whatever_is_asked_meanwhile(
    tmp_path: Path, ask: Callable[[LiveRun], None]
) -> None:
    run = live_run(parse({**SMALL, "steps": 60}), tmp_path, StandIn())
    events = computing(run, 20)
    ask(run)
    while not run.over:
        run.advance()
    events += run.deliver()
    last = 0
    for event in events:
        if isinstance(event, Progress | Ended):
            last = event.step
        if isinstance(event, Snapshot):
            assert event.step == last
    assert steps_in(events) == list(range(1, last + 1))


def test_a_run_on_a_device_is_saved_while_it_goes(tmp_path: Path) -> None:
    clock = Clock()
    run = live_run(parse({**SMALL, "steps": 200}), tmp_path, StandIn(), clock=clock)
    while run.step < 30:
        run.advance()
    clock.now += 2 * SAVE_EVERY
    run.advance()
    assert run.save_due
    run.settle()
    run.save()
    assert run.saved_step == run.step


# The recorder


def test_a_computation_is_done_then_recorded_then_repeated() -> None:
    recorder, count, calls = StandIn(), torch.zeros(1), list[int]()

    def compute() -> Tensor:
        calls.append(1)
        count.add_(1)
        return count * 10

    repeated = Repeated(recorder, compute)
    results = [float(repeated()) for _ in range(5)]
    assert results == [10, 20, 30, 40, 50]
    assert dict(recorder.counts) == {"recorded": 1, "repeated": 3}
    assert len(calls) == 3, "twice as it is, and once to be recorded"
    alone = Repeated(None, compute)
    assert [float(alone()) for _ in range(3)] == [60, 70, 80]


def test_a_snapshot_may_be_asked_for_between_steps() -> None:
    config = parse({**SMALL, "steps": 12})
    training = train(config, state=captured_state(config, ahead=1))
    snapshots = [
        training.send(SNAPSHOT_NOW) for event in training if isinstance(event, Progress) and event.step in (3, 7)
    ]
    assert [event.step for event in snapshots if isinstance(event, Snapshot)] == [3, 7]


def test_a_cpu_records_nothing_and_what_a_gpu_cannot_record_is_told() -> None:
    for settings, named in (
        ({"optimizer": "muon"}, "Muon"),
        ({"randomized_positions": 4}, "randomized positions"),
        ({"coupled_positions": True}, "coupled positions"),
    ):
        assert named in why_not_recorded(parse(settings), torch.device("cuda"))
        assert recorder_for(parse(settings), torch.device("cuda")) is None
    for settings in ({}, {"optimizer": "muon"}):
        assert recorder_for(parse(settings), torch.device("cpu")) is None
        assert not why_not_recorded(parse(settings), torch.device("cpu")), "a CPU records no run's steps"
    assert not why_not_recorded(parse({}), torch.device("cuda"))


@pytest.mark.parametrize(("version", "recorded"), [("2.11.0+cu130", False), ("2.13.0", True), ("3.0.1a0", True)])
def test_runs_with_dropout_are_recorded_where_each_graph_has_a_random_state_of_its_own(
    monkeypatch: pytest.MonkeyPatch, version: str, recorded: bool
) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    for settings in ({"dropout": 0.1}, {"position_dropout": 0.1}):
        assert bool(why_not_recorded(parse(settings), torch.device("cuda"))) is not recorded
