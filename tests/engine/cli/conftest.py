import json
from pathlib import Path

import pytest

from engine.estimate.speed import speed_file
from tests.serving import SPEED


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed of the machine is known there: to measure it takes seconds."""
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    speed_file().write_text(json.dumps(SPEED))
