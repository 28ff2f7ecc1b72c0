"""Evidence: the measurements on this machine, and the numbers that come with this version."""

from pathlib import Path

FOLDER = Path(__file__).parent  # the folder of the evidence that comes with this version
