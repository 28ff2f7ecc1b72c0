import pytest

from engine.config.presets import BLOCKS, PRESETS
from engine.config.run_config import RunConfig


def test_what_to_look_for_is_asked_and_not_told_before_anything_is_trained() -> None:
    assert [preset.slug for preset in PRESETS.values() if "?" not in preset.look_at] == []


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4])
@pytest.mark.parametrize("slug", BLOCKS)
def test_a_block_takes_back_what_another_had_set_and_changes_nothing_twice(slug: str, n_heads: int) -> None:
    plain = RunConfig(n_heads=n_heads, d_head=8, n_layers=2)
    wanted = plain.replace(**BLOCKS[slug].changes(plain.flat(), n_heads))
    assert BLOCKS[slug].changes(wanted.flat(), n_heads) == {}
    for other in BLOCKS.values():
        before = plain.replace(**other.changes(plain.flat(), n_heads))
        assert before.replace(**BLOCKS[slug].changes(before.flat(), n_heads)) == wanted
    assert wanted.kv_heads == (n_heads // 2 if slug == "today" and n_heads % 2 == 0 else None)
