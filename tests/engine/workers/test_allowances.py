"""Allowances: counted by visitor, and refused with one sentence."""

from __future__ import annotations

import pytest

from engine.foundation.visitor import PROGRAM, Visitor
from engine.workers.allowances import Allowances
from engine.workers.errors import NoRoom
from engine.workers.limits import Limits

ANNA, BEN = Visitor("anna", "10.0.0.1"), Visitor("ben", "10.0.0.1")


def test_one_visitor_has_its_own_number_of_each_kind() -> None:
    allowances = Allowances(Limits(runs_per_visitor=2))
    for _ in range(2):
        allowances.take("run", ANNA)
    with pytest.raises(NoRoom, match=r"You have 2 runs going, and this host allows 2 at once\. Stop one"):
        allowances.take("run", ANNA)
    allowances.take("job", ANNA)
    allowances.take("run", BEN)
    assert (allowances.count("run", ANNA), allowances.count("run", BEN)) == (2, 1)


def test_what_is_released_counts_no_more() -> None:
    allowances = Allowances(Limits(runs_per_visitor=1))
    lease = allowances.take("run", ANNA)
    lease.release()
    lease.release()
    with allowances.taken("run", ANNA), pytest.raises(NoRoom):
        allowances.take("run", ANNA)
    assert allowances.count("run", ANNA) == 0


def test_an_error_inside_the_block_gives_the_place_back() -> None:
    allowances = Allowances(Limits())
    with pytest.raises(ZeroDivisionError), allowances.taken("job", ANNA):
        raise ZeroDivisionError
    assert allowances.count("job", ANNA) == 0


def test_a_school_is_one_address_but_a_thousand_cookies_are_not_a_school() -> None:
    allowances = Allowances(Limits(visitors_per_address=40))
    leases = [allowances.take("run", Visitor(f"pupil {n}", "10.0.0.1")) for n in range(40)]
    with pytest.raises(NoRoom, match="40 visitors at your network address have something going"):
        allowances.take("run", Visitor("one more", "10.0.0.1"))
    allowances.take("run", Visitor("pupil 7", "10.0.0.1"))
    allowances.take("run", Visitor("elsewhere", "10.0.0.2"))
    leases[0].release()
    allowances.take("run", Visitor("one more", "10.0.0.1"))


def test_the_host_has_a_number_for_everybody() -> None:
    allowances = Allowances(Limits(streams=2, streams_per_visitor=2))
    for name in ("anna", "ben"):
        allowances.take("stream", Visitor(name))
    with pytest.raises(NoRoom, match="2 streams of all visitors are going, as many as this host allows"):
        allowances.take("stream", Visitor("carla"))


def test_the_program_itself_is_not_limited() -> None:
    allowances = Allowances(Limits(runs_per_visitor=1))
    for _ in range(3):
        allowances.take("run", PROGRAM)
    assert allowances.count("run", PROGRAM) == 3


def test_an_address_gives_as_many_texts_as_it_may_have_visitors_then_they_come_slowly() -> None:
    allowances = Allowances(Limits(visitors_per_address=40))
    for number in range(40):
        allowances.give_text(Visitor(f"cookie {number}", "10.0.0.1"))
    allowances.give_text(Visitor("the one that overdraws", "10.0.0.1"))
    with pytest.raises(
        NoRoom, match=r"Many texts have come from your network address of late\. Give this one in \d+ s"
    ):
        allowances.give_text(Visitor("another cookie", "10.0.0.1"))
    allowances.give_text(Visitor("elsewhere", "10.0.0.2"))
    for _ in range(100):
        allowances.give_text(PROGRAM)
