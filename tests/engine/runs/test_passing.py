"""When a run passed a counting model, told from its events."""

from __future__ import annotations

from engine.config.run_config import parse
from engine.runs.events import Progress
from engine.runs.summary import passed

CONFIG = parse({"task": "shakespeare_words", "seq_len": 16, "batch_size": 32})
TOKENS = 16 * 32


def look(step: int, loss: float, tokens_per_second: float = 100 * TOKENS) -> Progress:
    return Progress(step, loss, 1.0, 0.01, tokens_per_second, validation={"loss": loss})


def test_the_first_look_below_is_the_moment_and_seconds_follow_from_the_tokens() -> None:
    events = [look(100, 5.0), Progress(150, 3.0, 1.0, 0.01, 1.0), look(1400, 4.4), look(2000, 4.3)]
    bigram, trigram = passed(CONFIG, events, {"bigram": 4.5, "trigram": 4.2})
    assert (bigram.step, bigram.seconds) == (1400, 14.0)
    assert bigram.sentence == "Passed the bigram after 14 s of training, step 1,400."
    assert trigram.step is None
    assert trigram.sentence == "Has not passed the trigram (perplexity 73.7 against 66.7)."


def test_one_that_falls_back_says_so_and_nothing_is_said_before_the_first_look() -> None:
    (row,) = passed(CONFIG, [look(100, 4.4), look(200, 4.6)], {"bigram": 4.5})
    assert (
        row.sentence
        == "Passed the bigram after 1 s of training, step 100, but is above it again (perplexity 99.5 against 90.0)."
    )
    assert passed(CONFIG, [Progress(1, 8.0, 1.0, 0.01, 1.0)], {"bigram": 4.5}) == []
