"""Allowances: counted by visitor, and refused with one sentence."""

from contextlib import suppress

import pytest

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import PROGRAM, Visitor
from engine.serving.allowances import TEXTS_AT_ONCE, Allowances, WorkKind, has_share
from engine.serving.limits import Limits

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


def test_what_is_released_or_ended_by_an_error_counts_no_more() -> None:
    allowances = Allowances(Limits(runs_per_visitor=1))
    release = allowances.take("run", ANNA)
    release()
    release()
    with pytest.raises(ZeroDivisionError), allowances.taken("run", ANNA):  # noqa: PT012 the error comes last
        with pytest.raises(NoRoom):
            allowances.take("run", ANNA)
        raise ZeroDivisionError
    assert allowances.count("run", ANNA) == 0


@pytest.mark.parametrize("kind", ["job", "stream", "experiment", "sweep", "tab"])
def test_thrown_away_cookies_of_one_address_get_no_more_than_half(kind: WorkKind) -> None:
    allowances = Allowances(Limits(jobs=64, streams=64, experiments=64, sweeps=64, tabs=64))
    releases = [allowances.take(kind, Visitor(f"cookie {n}", "10.0.0.1")) for n in range(32)]
    with pytest.raises(NoRoom, match=f"32 {kind}s from your network address are going, and the other places are for"):
        allowances.take(kind, Visitor("cookie 32", "10.0.0.1"))
    allowances.take(kind, Visitor("a cookie", "10.0.0.2"))
    releases[0]()
    releases[1]()
    allowances.take(kind, Visitor("cookie 33", "10.0.0.1"))


def test_all_networks_of_one_ipv6_site_have_one_share_and_another_site_its_own() -> None:
    allowances = Allowances(Limits(jobs=64))
    for subnet in range(256):
        with suppress(NoRoom):
            allowances.take("job", Visitor(f"cookie {subnet}", f"2001:db8:0:{subnet:x}::/64"))
    with pytest.raises(NoRoom, match="32 jobs from your network address are going"):
        allowances.take("job", Visitor("one more", "2001:db8:0:ffff::/64"))
    allowances.take("job", Visitor("a neighbour", "2001:db8:1::/64"))


def test_it_takes_many_addresses_to_leave_nothing_for_another_one() -> None:
    allowances = Allowances(Limits(jobs=64))
    for address in range(6):
        with suppress(NoRoom):
            for number in range(64):
                allowances.take("job", Visitor(f"cookie {number}", f"10.0.0.{address}"))
    allowances.take("job", Visitor("a cookie", "10.0.1.1"))


def test_thirty_pupils_behind_one_address_have_one_of_each_even_on_a_public_host() -> None:
    limits = Limits.from_environment({"ATTENTION_LAB_PROFILE": "public"})
    allowances, kinds = Allowances(limits), ("run", "experiment", "sweep", "job", "stream", "tab")
    for kind in kinds:
        for pupil in range(30):
            allowances.take(kind, Visitor(f"pupil {pupil}", "10.0.0.1"))
    assert has_share(30, 30, limits.queue_length)


def test_the_program_itself_is_not_limited() -> None:
    allowances = Allowances(Limits(runs_per_visitor=1))
    for _ in range(3):
        allowances.take("run", PROGRAM)
    assert allowances.count("run", PROGRAM) == 3


def test_an_address_gives_many_texts_at_once_then_they_come_slowly() -> None:
    allowances = Allowances(Limits())
    for number in range(TEXTS_AT_ONCE):
        allowances.give_text(Visitor(f"cookie {number}", "10.0.0.1"))
    allowances.give_text(Visitor("the one that overdraws", "10.0.0.1"))
    with pytest.raises(NoRoom, match=r"Your network address has sent many texts\. Give this one in \d+"):
        allowances.give_text(Visitor("another cookie", "10.0.0.1"))
    allowances.give_text(Visitor("elsewhere", "10.0.0.2"))
    for _ in range(100):
        allowances.give_text(PROGRAM)


def test_inputs_are_counted_in_bytes() -> None:
    allowances = Allowances(Limits(inputs_per_visitor=100, inputs=400))
    release = allowances.take("input", ANNA, 60)
    with pytest.raises(
        NoRoom, match=r"You have files and texts of 60 B, and this host allows 100 B at once\. Remove a file"
    ):
        allowances.take("input", ANNA, 41)
    allowances.take("input", ANNA, 40)
    allowances.take("input", BEN, 100)
    third, elsewhere = Visitor("third", ANNA.address), Visitor("elsewhere", "10.0.0.2")
    with pytest.raises(NoRoom, match="fill the memory"):
        allowances.take("input", third, 1)
    allowances.take("input", elsewhere, 100)
    release()
    allowances.take("input", third, 20)
