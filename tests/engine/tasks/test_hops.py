import itertools
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from engine.config.run_config import parse
from engine.settings.errors import ConfigError
from engine.tasks.base.data import IGNORE
from engine.tasks.hops import HopsSettings
from engine.tasks.hops.data import TASK
from engine.training.data import Data
from tests.engine.tasks.test_rules import draw_batch, read_from


def hopped(symbols: list[int], hops: int) -> list[int]:
    """The answers of :mod:`engine.tasks.hops` by search, as its source states the rule."""
    answers = []
    for at in range(len(symbols)):
        for _ in range(hops):
            earlier = [index for index in range(at) if symbols[index] == symbols[at]]
            if not earlier:
                answers.append(IGNORE)
                break
            at = earlier[-1] + 1
        else:
            answers.append(symbols[at])
    return answers


@pytest.mark.parametrize("n_hops", [1, 2, 3, 5])
@pytest.mark.parametrize(("vocab_size", "repeats"), [(3, False), (4, True), (6, False)])
def test_hops_lead_where_a_search_leads(vocab_size: int, repeats: bool, n_hops: int) -> None:
    flat = {"vocab_size": vocab_size, "repeats": repeats, "n_hops": n_hops}
    for family in ("decoder", "encoder"):
        config, read, targets = draw_batch(task="hops", seq_len=24, family=family, **flat)
        assert targets == [hopped(symbols, n_hops) for symbols in read]
        follows_itself = [a == b for symbols in read for a, b in itertools.pairwise(symbols)]
        assert np.mean(follows_itself) == pytest.approx(repeats / vocab_size, abs=0.02)
        counts = Counter(symbol for symbols in read for symbol in symbols)
        assert [counts[symbol] / 12_000 for symbol in range(vocab_size)] == pytest.approx(
            [1 / vocab_size] * vocab_size, abs=0.03
        )
        answers = Counter(answer for answers in targets for answer in answers if answer != IGNORE)
        assert max(answers.values()) / answers.total() == pytest.approx(Data(config).chance(), abs=0.04)


@pytest.mark.parametrize("n_hops", [1, 2, 3])
def test_the_last_answer_stands_at_its_true_source_and_one_that_is_not_asked_has_none(n_hops: int) -> None:
    settings = HopsSettings(vocab_size=6, n_hops=n_hops)
    _, source, answers = read_from(settings, "hops", 500, 12)
    true, has_answer = TASK.true_source(source, settings), answers[:, -1] != IGNORE
    assert 0 < int(has_answer.sum()) < 500
    found = source.gather(1, true.clamp(min=0)[:, None])[:, 0]
    assert found[has_answer].equal(answers[has_answer, -1])
    assert int(true[has_answer].min()) >= 1, "an answer follows an earlier symbol"
    assert int(true[has_answer].max()) < 11, "it never stands where it is asked"
    assert set(true[~has_answer].tolist()) == {-1}
    with pytest.raises(ValueError, match="repeats is True; it must be False"):
        TASK.true_source(source, HopsSettings(vocab_size=6, repeats=True))


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("n_hops", [1, 3])
def test_the_positions_that_hops_ask_are_counted_and_every_drawable_sequence_is_distinct(
    n_hops: int, repeats: bool
) -> None:
    settings = HopsSettings(vocab_size=4, n_hops=n_hops, repeats=repeats)
    _, source, answers = read_from(settings, "hops", 4000, 24)
    assert (answers != IGNORE).sum().item() / 4000 == pytest.approx(settings.answered_share(24), rel=0.02)
    few = HopsSettings(vocab_size=3, n_hops=n_hops, repeats=repeats)
    _, source, _ = read_from(few, "hops", 4000, 5)
    assert len({tuple(row) for row in source.tolist()}) == few.distinct(5) == (243 if repeats else 48)


def test_hops_are_refused_where_none_can_lead_anywhere_and_the_longest_possible_chain_is_asked() -> None:
    with pytest.raises(ConfigError, match="n_hops is 4; it must be a whole number from 1 to 3"):
        parse({"task": "hops", "seq_len": 5, "n_hops": 4})
    with pytest.raises(ConfigError, match="from 1 to 2"):
        parse({"task": "hops", "seq_len": 9, "test_lengths": "4", "n_hops": 3})
    assert parse({"task": "hops", "seq_len": 3, "n_hops": 4, "repeats": True}).value("n_hops") == 4
    targets = draw_batch(task="hops", seq_len=5, n_hops=3, vocab_size=3)[2]
    assert any(answers[-1] != IGNORE for answers in targets)


def test_hops_warn_of_fewer_layers_than_were_seen_to_learn_them_and_of_batches_that_ask_for_nothing() -> None:
    def warned(**settings: Any) -> str:
        config = parse({"task": "hops", "seq_len": 32, **settings})
        return " ".join(config.task_settings.warnings(config))

    assert not warned(n_layers=2) + warned(n_layers=3, n_hops=2) + warned(family="gru")
    assert "1 hop with 1 layer: " in warned(n_layers=1)
    assert "3 hops with 3 layers: " in warned(n_layers=3, n_hops=3)
    assert "In theory 4 layers suffice" in warned(n_layers=4, n_hops=5, family="encoder")

    rare = {"n_layers": 4, "n_hops": 3, "vocab_size": 50, "batch_size": 4}
    batches = [draw_batch(task="hops", seq_len=32, seed=seed, **rare)[2] for seed in range(300)]
    nothing = np.mean([{answer for answers in answered for answer in answers} == {IGNORE} for answered in batches])
    share = float(re.findall(r"About (\d+)% of the batches contain no question", warned(**rare))[0]) / 100
    assert nothing == pytest.approx(share, abs=0.1)
