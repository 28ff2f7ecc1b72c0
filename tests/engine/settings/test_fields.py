"""What a parameter model declares becomes settings, each of which can say what is allowed."""

import pytest

from engine.settings.fields import Parameters, setting, settings_in


def test_a_number_without_a_range_is_no_setting_since_a_wrong_value_could_not_be_answered() -> None:
    class Bounded(Parameters):
        depth: int = setting(4, "Layers", "", ge=1, le=8)

    class Open(Parameters):
        depth: int = setting(4, "Layers", "", ge=1)

    assert [row.allowed for row in settings_in(Bounded)] == ["a whole number from 1 to 8"]
    with pytest.raises(TypeError, match="depth has no range"):
        list(settings_in(Open))
