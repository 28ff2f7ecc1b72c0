import json

import pytest

from engine.estimate.speed import speed_file
from tests.serving import SPEED


@pytest.fixture(autouse=True)
def _known_speed(own_data_folder: object) -> None:
    """The speed of the machine is known there: to measure it takes seconds."""
    speed_file().write_text(json.dumps(SPEED))
