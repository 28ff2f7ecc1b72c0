"""Evidence: what was measured on this machine, and the numbers that come with this version."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""The folder of the evidence that comes with this version."""
