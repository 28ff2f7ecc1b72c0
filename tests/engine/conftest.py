"""One thread, as the workers run: with more, small models wait for threads rather than compute. A data folder for a test by itself."""

from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    return tmp_path
