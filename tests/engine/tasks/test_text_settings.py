"""The settings of the text tasks: what they refuse, in which order, and what they warn of."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.run_config import parse
from engine.settings.errors import ConfigError

OVERLAPPING = {"windows": "overlapping", "seq_len": 8, "stride": 8}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"text": "sonnets"},
            "text is sonnets; allowed is shakespeare, or the name under which a text of your own is kept",
        ),
        ({"label_noise": 0.1}, "label_noise is 0.1; allowed is 0 for task shakespeare_chars."),
        (OVERLAPPING, "stride is 8; allowed is a whole number from 1 to 7: windows of 8 tokens then overlap."),
        ({"text": "sonnets", "label_noise": 0.1, **OVERLAPPING}, "text is sonnets;"),
        ({"label_noise": 0.1, **OVERLAPPING}, "label_noise is 0.1;"),
    ],
)
def test_what_does_not_fit_is_refused_one_at_a_time(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"task": "shakespeare_chars", **settings})
    assert len(caught.value.problems) == 1
    assert str(caught.value).startswith(sentence)


def test_the_text_tasks_differ_in_unit_and_defaults_alone() -> None:
    characters, words = (parse({"task": task}).task_settings for task in ("shakespeare_chars", "shakespeare_words"))
    assert (characters.unit, words.unit) == ("characters", "words")
    assert list(type(characters).model_fields) == list(type(words).model_fields)
    assert (characters.n_symbols, words.n_symbols) == (80, 1000)
    assert characters.sister_symbols == words.sister_symbols == 0
    assert parse({"task": "shakespeare_chars", **OVERLAPPING, "windows": "non_overlapping"}).value("stride") == 8
