import pytest

from engine.settings.names import did_you_mean, resolve_name

KNOWN = ("rope", "t5_bias", "missing-mask", "off_by_one")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("RoPE", "rope"),
        ("T5 bias", "t5_bias"),
        (" missing_mask ", "missing-mask"),
        ("Off-By-One", "off_by_one"),
        ("rop", "rop"),
        ("", ""),
        ("rope" + 100 * " " + "x", "rope" + 100 * " " + "x"),
    ],
)
def test_one_meaning_is_understood_and_none_is_guessed(given: str, name: str) -> None:
    assert resolve_name(given, KNOWN) == name


def test_two_meanings_are_none_but_a_name_as_it_is_written_is_itself() -> None:
    assert resolve_name("A_B", ("a-b", "a_b")) == "A_B"
    assert resolve_name("a_b", ("a-b", "a_b")) == "a_b"


def test_an_earlier_name_leads_on_to_the_present_one() -> None:
    renamed = {"no-mask": "missing-mask"}
    assert resolve_name("no-mask", KNOWN, renamed) == resolve_name("No mask", KNOWN, renamed) == "missing-mask"
    assert resolve_name("no-mask", KNOWN) == "no-mask"
    assert resolve_name("rope", KNOWN, {"rope": "t5_bias"}) == "rope", "a present name is itself"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("mising mask", "Did you mean missing-mask?"),
        ("ropes", "Did you mean rope?"),
        ("zork", ""),
        ("", ""),
        ("x" * 10**6, ""),
    ],
)
def test_a_near_name_is_asked_about(given: str, sentence: str) -> None:
    assert did_you_mean(given, KNOWN) == sentence
