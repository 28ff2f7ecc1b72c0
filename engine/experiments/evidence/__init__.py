from pathlib import Path

FOLDER = Path(__file__).parent  # the folder of the evidence that comes with this version
