"""The log at the start: limits, a server that is open to others without saying so, and another server on the same data."""

import pytest

from engine.hosting.limits import PROFILE, Limits
from engine.runs.lease import Holder
from pages.parts.app.server import start_lines


def test_limits_another_server_on_the_same_data_and_the_scheduler_are_told() -> None:
    (line,) = start_lines(Limits(steps=77), {}, "127.0.0.1", [])
    assert "Profile own" in line
    assert " steps=77 " in line
    *_, line = start_lines(Limits(), {}, "localhost", [Holder("a", 42, "lab-two pid:[1]", 0.0)])
    assert "process 42 on lab-two" in line
    *_, line = start_lines(Limits(), {}, "localhost", [], "tls://scheduler:8786")
    assert "tls://scheduler:8786" in line


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::", "lab.example.org"])
def test_a_server_open_to_others_without_a_profile_says_so_in_one_line(address: str | None) -> None:
    first, said = start_lines(Limits(), {}, address, [])
    assert f"{PROFILE}=public" in said
    assert list(start_lines(Limits(), {PROFILE: "own"}, address, [])) == [first]
    for own in ("127.0.0.1", "::1", "localhost"):
        assert list(start_lines(Limits(), {}, own, [])) == [first], "one's own computer"
