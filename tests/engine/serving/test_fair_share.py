from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

import pytest

from engine.serving.fair_queue import CREDIT
from engine.serving.live_run import LiveRun
from engine.serving.protocol import Followers
from engine.serving.turns import FairShare
from tests.engine.foundation.test_visitor import Clock
from tests.engine.serving.test_live_run import Timed, live_run, started, take_turn

HONEST = ("elsewhere", "honest")
CROWD = [("here", f"cookie {n}") for n in range(44)]  # visitors of one network address
followers_of = WeakKeyDictionary[FairShare, dict[str, Followers]]()  # the followers last set, by fair share


def add(turns: FairShare, run: LiveRun, *followers: tuple[str, str], here: bool = True) -> LiveRun:
    turns.runs.append(run)
    shares = followers_of.setdefault(turns, {})
    shares[run.run_id] = Followers(here, followers)
    turns.follow(shares)
    return run


def add_crowd(turns: FairShare, clock: Clock, *, here: bool = True, seconds: float = 0.01) -> None:
    for who in CROWD:
        for number in range(3):
            add(turns, started(Timed(clock, seconds), f"{who[1]}, run {number}"), who, here=here)


def train(turns: FairShare, clock: Clock, seconds: float) -> Counter[str]:
    took, until = Counter[str](), clock.now + seconds
    while clock.now < until:
        began = clock.now
        run = take_turn(turns)
        took[run.run_id] += clock.now - began  # type: ignore[assignment]
    return took


@pytest.mark.parametrize(("seconds", "whole"), [(0.01, 10.0), (0.2, 60.0)])
def test_an_honest_visitor_gets_half_of_the_time_beside_44_cookies_of_one_address(
    seconds: float, whole: float, clock: Clock, turns: FairShare
) -> None:
    """However many runs they have, and however long the steps of these are."""
    add_crowd(turns, clock, seconds=seconds)
    mine = add(turns, started(Timed(clock, 0.01), "mine"), HONEST)
    took = train(turns, clock, whole)
    assert took[mine.run_id] == pytest.approx(whole / 2, abs=0.5)
    assert {run for run, had in took.items() if run != "mine" and had > 0.0} == {
        run.run_id for run in turns.runs if run is not mine
    }, "the others go on, too"


def test_runs_whose_owners_have_left_get_only_time_that_nobody_else_wants(clock: Clock, turns: FairShare) -> None:
    add_crowd(turns, clock, here=False)
    mine = add(turns, started(Timed(clock, 0.01), "mine"), HONEST)
    assert train(turns, clock, 5.0) == {"mine": pytest.approx(5.0)}
    mine.set_pace(10)
    took = train(turns, clock, 10.0)
    assert took["mine"] == pytest.approx(10 * 10 * 0.01, rel=0.05)
    assert len(took) == 1 + 3 * len(CROWD), "while mine waits for its pace"
    mine.pause()
    assert "mine" not in train(turns, clock, 5.0)
    turns.follow({**followers_of[turns], "cookie 3, run 0": Followers(True, (CROWD[3],))})
    assert set(train(turns, clock, 5.0)) == {"cookie 3, run 0"}, "somebody is back"


def test_visitors_of_one_address_share_its_time_and_each_shares_his_among_his_runs(
    clock: Clock, turns: FairShare
) -> None:
    for name, who in (("a", "ann"), ("b1", "ben"), ("b2", "ben")):
        add(turns, started(Timed(clock, 0.01), name), ("school", who))
    add(turns, started(Timed(clock, 0.01), "mine"), HONEST)
    assert train(turns, clock, 40.0) == pytest.approx({"mine": 20.0, "a": 10.0, "b1": 5.0, "b2": 5.0}, abs=0.3)


def test_a_trial_that_many_follow_has_the_turns_of_each_and_counts_for_the_one_whose_turn_it_was(
    clock: Clock, turns: FairShare
) -> None:
    add(turns, started(Timed(clock, 0.01), "trial"), ("a", "ann"), ("b", "ben"))
    for who in (("a", "ann"), ("b", "ben"), ("c", "carla")):
        add(turns, started(Timed(clock, 0.01), f"{who[1]}'s own"), who)
    thirds = {"trial": 10.0, "ann's own": 5.0, "ben's own": 5.0, "carla's own": 10.0}
    assert train(turns, clock, 30.0) == pytest.approx(thirds, abs=0.3)


def test_who_presses_train_waits_for_nobody_and_many_new_runs_of_an_address_do_not_hold_up_the_others(
    clock: Clock, turns: FairShare
) -> None:
    """The crowd's runs draw their data for long before their first point."""
    mine = add(turns, started(Timed(clock, 0.01), "mine"), HONEST)
    train(turns, clock, 5.0)
    for number, who in enumerate(CROWD):
        add(turns, live_run(Timed(clock, 2.0), f"new {number}"), who)
    took = train(turns, clock, 40.0)
    assert took["mine"] == pytest.approx(20.0, abs=CREDIT + 2.0)
    other = add(turns, live_run(Timed(clock, 0.01), "other"), ("a third place", "dora"))
    began = clock.now
    while other.step == 0:
        assert take_turn(turns) is not mine
    assert clock.now - began <= 2.0 + 0.01, "at most a step of the crowd's before"
