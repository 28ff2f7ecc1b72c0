"""The presets of the lab."""

from engine.config.presets import PRESETS


def test_what_to_look_for_is_asked_and_not_told_before_anything_is_trained() -> None:
    assert [preset.slug for preset in PRESETS.values() if "?" not in preset.look_at] == []
