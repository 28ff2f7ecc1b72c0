"""Look-up against a slow rule that reads the sequence pair by pair."""

import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.layout import shapes
from engine.model.build import build_model
from engine.tasks.base.data import IGNORE
from engine.tasks.lookup import LookupSettings
from engine.tasks.lookup.data import TASK, asked_positions
from engine.training.data import Data
from engine.training.snapshot import answer_namer, token_names

SETTINGS = LookupSettings(vocab_size=4, n_keys=8, lookups=3)


def slow_answer(tokens: list[int], keys: int, values: int, lookups: int) -> int:
    *pairs, query = tokens
    table = {pair // (values + 1): pair % (values + 1) for pair in pairs}
    assert len(table) == len(pairs), "each key occurs once"
    answer = 0
    for step in range(lookups):
        answer = answer * values + table[(query // (values + 1) + step) % keys]
    return answer


@pytest.mark.parametrize("length", [4, 6, 9])
def test_answers_follow_the_slow_rule(length: int) -> None:
    source = TASK.draw(500, length, SETTINGS, torch.Generator().manual_seed(0))
    answers = TASK.answer(source, SETTINGS)
    assert (answers[:, :-1] == IGNORE).all()
    assert answers[:, -1].tolist() == [slow_answer(row, 8, 4, 3) for row in source.tolist()]


def test_every_key_value_place_and_query_occurs() -> None:
    source = TASK.draw(4000, 5, SETTINGS, torch.Generator().manual_seed(0))
    assert set(source[:, :-1].flatten().tolist()) == {key * 5 + value for key in range(8) for value in range(4)}
    assert set(source[:, -1].tolist()) == {key * 5 + 4 for key in range(8)}
    places = asked_positions(source, SETTINGS)
    for look_up in range(3):
        share = places[:, look_up].bincount(minlength=4) / len(source)
        assert share.tolist() == pytest.approx([0.25] * 4, abs=0.04), "the asked pair may stand anywhere"


def test_the_true_source_holds_the_asked_key() -> None:
    settings = LookupSettings(vocab_size=4, n_keys=8)
    source = TASK.draw(200, 6, settings, torch.Generator().manual_seed(1))
    assert TASK.true_source is not None
    found = source.gather(1, TASK.true_source(source, settings)[:, None])[:, 0]
    assert (found // 5).equal(source[:, -1] // 5)
    with pytest.raises(ValueError, match="lookups is 3"):
        TASK.true_source(source, SETTINGS)


def test_tokens_and_answers_have_names_shapes_hold_them_and_a_token_is_key_plus_value() -> None:
    config = parse({"task": "lookup", "seq_len": 4, "vocab_size": 4, "n_keys": 8, "lookups": 2, "family": "encoder"})
    assert token_names(config, [11, 0, 8, 9]) == ["c1", "a0", "b3", "b?"]
    answer = TASK.answer(torch.tensor([[11, 0, 8, 9]]), config.task_settings)
    assert answer.tolist() == [[IGNORE, IGNORE, IGNORE, 13]]
    assert answer_namer(config)(13) == "3 1"

    config = parse({"task": "lookup", "seq_len": 9, "vocab_size": 2, "lookups": 4, "family": "encoder"})
    sizes, batch = shapes(config), Data(config).training_batch()
    assert (sizes.n_tokens, sizes.n_outputs, sizes.length) == (8 + 2 + 1, 16, 9)
    assert int(batch.inputs.max()) < len(config.task_settings.token_parts) == 24

    config = parse({"task": "lookup", "seq_len": 4, "vocab_size": 4, "n_keys": 8, "family": "encoder"})
    model = build_model(config, **shapes(config).of_model)
    vectors, rows = model.embedding(torch.tensor([[11, 9]]))[0], model.embedding.table.weight
    assert vectors.equal(torch.stack([rows[2] + rows[8 + 1], rows[1] + rows[8 + 4]]))
