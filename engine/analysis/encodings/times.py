"""The stored times of the encodings on this machine. A page reads them itself: no worker is asked, so nothing waits for one."""

from engine.analysis.encodings.jobs import Timing
from engine.foundation.files import data_folder
from engine.foundation.stored_json import read_json

FILE = "encoding-times.json"


def known_times() -> dict[str, Timing]:
    """The times measured last on this machine; empty where there are none."""
    try:
        rows = read_json(data_folder() / FILE)
        return {name: Timing(**{key: float(row[key]) for key in Timing.__annotations__}) for name, row in rows.items()}  # type: ignore[typeddict-item]
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}
