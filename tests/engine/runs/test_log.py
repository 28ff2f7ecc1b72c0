import gc
import threading
from dataclasses import replace
from math import inf, isnan, nan

import pytest

from engine.runs.events import Ended, Event, Progress, Snapshot, to_json
from engine.runs.log import EventLog
from engine.runs.summary import counting_comparisons, run_summary
from tests.engine.fake_training import config, train
from tests.scripted import ScriptedRun


def step(number: int) -> Progress:
    return Progress(number, 1 / number, 2.0, 0.1, 1e5, {"accuracy": number / 7})


def validated(number: int) -> Progress:
    return replace(step(number), validation={"loss": 0.25}, grad_norms={"0.q": 1e-9, "head": number / 3})


@pytest.fixture(scope="module")
def events() -> list[Event]:
    bare = [Progress(301, 0.5, 1.0, 0.1, 1.0), Progress(302, 0.5, 1.0, 0.1, 1.0, {}, {}, {}), Ended(302, "stopped")]
    return [*ScriptedRun().advance(300).events, *bare]


def test_every_event_comes_back_under_its_number(events: list[Event]) -> None:
    log = EventLog(events)
    assert len(log) == len(events)
    assert [log[number] for number in range(len(log))] == list(log) == events
    assert (log[-1], log[5:9], list(reversed(log))) == (events[-1], events[5:9], events[::-1])
    with pytest.raises(IndexError):
        log[len(events)]


def test_a_step_comes_back_in_the_order_of_its_names_also_with_numbers_that_are_not_finite() -> None:
    given = Progress(7, 0.1, 1e-30, 3e-4, 1e9, {"b": 1.0, "a": 0.1}, {"z": 2.0}, {"1.q": 0.5, "0.q": 1.0})
    assert str(to_json(EventLog([given])[0])) == str(to_json(given))

    found = EventLog([Progress(1, nan, inf, -inf, 1.0, {"a": nan})])[0]
    assert isnan(found.loss)
    assert (found.grad_norm, found.learning_rate) == (inf, -inf)
    assert isnan(found.metrics["a"])


@pytest.mark.parametrize("wrong", ["x", [1.0], {}])
def test_a_step_with_something_else_than_numbers_is_refused_and_leaves_nothing(wrong: object) -> None:
    log = EventLog([step(1)])
    with pytest.raises(TypeError):
        log.append(Progress(2, wrong, 1.0, 0.1, 1.0))  # type: ignore[arg-type]
    log.append(step(2))
    assert list(log) == [step(1), step(2)]


def test_steps_add_no_objects_to_the_garbage_collection() -> None:
    log = EventLog([validated(1), step(2)])

    def tracked() -> int:
        gc.collect()
        return len(gc.get_objects())

    before = tracked()
    for number in range(3, 2_000):
        log.append(validated(number) if number % 50 == 0 else step(number))
    assert tracked() - before < 50
    plain = 8 * (5 + 1 + 2)  # the row of a step, its place and its layout
    assert log.nbytes < 2_000 * plain * 1.1


def test_tables_and_kinds_of_events_are_those_of_a_stretch(events: list[Event]) -> None:
    log = EventLog(events)
    for after, upto in ((0, len(log)), (3, 3), (17, 120), (250, len(log))):
        rows = sorted(row for table in log.tables(after, upto) for row in table.values[:, :2].tolist())
        assert rows == [[e.step, e.loss] for e in events[after:upto] if isinstance(e, Progress)]

    for after, upto in ((0, len(log)), (2, 50), (40, 40)):
        assert list(log.of(Snapshot, after, upto)) == [e for e in events[after:upto] if isinstance(e, Snapshot)]
    assert log.of(Ended)[0] is events[-1]


def test_landmarks_tell_what_all_events_tell(events: list[Event]) -> None:
    for upto in (0, 1, 2, 3, 40, 77, len(events)):
        log = EventLog(events[:upto])
        last = max((e.step for e in log if isinstance(e, Progress)), default=0)
        landmarks = [e for e in log if not isinstance(e, Progress) or e.validation is not None or e.step == last]
        assert list(log.landmarks()) == landmarks
    run = ScriptedRun().advance(120)
    assert run_summary(run.config, run.events.landmarks()) == run_summary(run.config, run.events)
    levels = {"some": 1.5}
    assert counting_comparisons(run.config, run.events.landmarks(), levels) == counting_comparisons(
        run.config, run.events, levels
    )


def test_whoever_reads_while_events_come_reads_whole_events() -> None:
    events = list(train(config(steps=3_000)))
    log, wrong = EventLog(), list[int]()

    def read() -> None:
        while len(log) < len(events):
            count = len(log)
            if count and log[count - 1] != events[count - 1]:
                wrong.append(count)
            steps = sum(len(table.values) for table in log.tables(0, count))
            if steps != sum(isinstance(event, Progress) for event in events[:count]):
                wrong.append(-count)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for event in events:
        log.append(event)
    for reader in readers:
        reader.join()
    assert wrong == []
