"""The weights file of a run."""

import resource
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.model.build import save_weights
from engine.training.train import prepare


def test_weights_for_which_the_disk_has_no_room_are_an_error_of_the_disk(tmp_path: Path) -> None:
    model, before = prepare(RunConfig()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match=r"(?i)file too large"):
            save_weights(model, tmp_path / "weights.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())
