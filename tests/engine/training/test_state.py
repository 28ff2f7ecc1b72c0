from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.runs.events import ARRAYS, Event, Finished, Progress, Snapshot, Started
from engine.runs.record_options import SNAPSHOT_NOW
from engine.training.train import begin, train
from tests.engine.tiny import TODAY

STEPS, LOOKED_AT = 14, 12
SMALL = {"steps": STEPS, "warmup_steps": 4, "d_model": 16, "n_heads": 2, "batch_size": 8, "seq_len": 8}
CONFIGS: dict[str, dict[str, Any]] = {
    "default": {},
    "dropout": {"dropout": 0.3, "pos_encoding": "rope"},
    "muon and shared layers": {"optimizer": "muon", "n_layers": 3, "share_layers": True},
    "sgd without clipping": {"optimizer": "sgd", "grad_clip": None, "label_noise": 0.2},
    "randomized positions and lengths": {"randomized_positions": 4, "min_seq_len": 4, "test_lengths": (8, 12)},
    "coupled positions": {"coupled_positions": True, "min_seq_len": 4, "test_lengths": (12,)},
    "dropped encoding": {"drop_encoding_at": 0.5, "test_lengths": (12,)},
    "dropped bias": {"drop_encoding_at": 0.8, "pos_encoding": "t5_bias", "local_mix": 2},
    "pre-training": {"pretrain_steps": 10, "pretrain_on": "sister"},
    "text": {"task": "shakespeare_chars", "seq_len": 16},
    "data set": {"dataset_size": 40, "position_dropout": 0.5},
    "encoder-decoder": {"family": "encoder_decoder", "dropout": 0.1},
    "gru": {"family": "gru"},
    "a block of today": {**TODAY, "n_heads": 4, "n_layers": 2, "optimizer": "muon"},
    "half precision": {"dtype": "bfloat16"},
    "mixed precision": {"dtype": "bfloat16_mixed"},
}


def config_of(name: str) -> RunConfig:
    return parse({**SMALL, **CONFIGS[name]})


def numbers(events: Iterable[Event]) -> list[dict[str, Any]]:
    """All numbers except times; arrays as bytes, so that they are compared to the last bit."""
    rows, apart = [], {*ARRAYS, "tokens_per_second", "seconds"}
    for event in events:
        row = {name: value for name, value in vars(event).items() if name not in apart}
        for group in ARRAYS if isinstance(event, Snapshot) else ():
            row |= {f"{group}/{name}": np.asarray(array).tobytes() for name, array in getattr(event, group).items()}
        rows.append({"event": type(event).__name__, **row})
    return rows


def until(config: RunConfig, step: int, file: Path) -> list[Event]:
    """The events of a run, begun or continued from a file, up to a step, after which it is saved in the file."""
    state, given = begin(config), list[Event]()
    if file.exists():
        state.load(file)
    for event in (training := train(config, state=state)):
        given.append(event)
        if isinstance(event, Snapshot if step == 0 else Progress) and event.step == step:
            if step == LOOKED_AT:
                assert isinstance(training.send(SNAPSHOT_NOW), Snapshot)
            break
    state.save(file)
    return given


@pytest.mark.parametrize("name", CONFIGS)
def test_saved_and_continued_again_and_again_is_as_if_never_stopped(name: str, tmp_path: Path) -> None:
    """Before the first step, around the end of the pre-training, after the last step, and with snapshots."""
    config, whole = config_of(name), list(train(config_of(name)))
    assert isinstance(whole[-1], Finished)
    in_parts = list[Event]()
    around_pretraining = (9, 10, 11) if config.pretrain_steps else ()
    for step in (0, 7, *around_pretraining, LOOKED_AT, STEPS):
        torch.rand(step)  # another run in the process that continues it
        in_parts += until(config, step, tmp_path / "state")
        assert step or [type(event) for event in in_parts] == [Started, Snapshot]
    in_parts += until(config, STEPS + 1, tmp_path / "state")
    assert numbers(in_parts) == numbers(whole)


def test_what_is_no_state_or_one_of_another_config_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "state"
    for content in (b"", b"no state", b"PK\x03\x04", b"\x80\x04cos\nsystem\n(S'true'\ntR."):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="cannot continue"):
            begin(config_of("default")).load(file)
    begin(config_of("default")).save(file)
    with pytest.raises(ValueError, match="cannot continue"):
        begin(config_of("muon and shared layers")).load(file)
    content = torch.load(file, weights_only=True)
    for name, damaged in (
        ("step", "16"),
        ("step", -1),
        ("step", STEPS + 1),
        ("snapshot_step", "0"),
        ("busy", None),
        ("seen", -5),
    ):
        torch.save({**content, name: damaged}, file)
        with pytest.raises(ValueError, match="cannot continue"):
            begin(config_of("default")).load(file)


def test_a_disk_that_does_not_take_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        begin(config_of("default")).save(tmp_path / "file" / "state")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
