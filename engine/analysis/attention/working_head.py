"""The head that does the work: the one without which a trained model loses the most accuracy."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.analysis.attention.asked import HeadIndex
from engine.analysis.attention.jobs import EachHeadOff, Heads
from engine.foundation.files import write_whole

FILE = "working_head.json"


@dataclass(frozen=True)
class WorkingHead:
    place: HeadIndex
    metric: str
    """The task's first metric, measured on held-out sequences."""
    whole: float
    """Its value with all heads."""
    without: float
    """Its value with this head switched off."""
    kind: str
    """The kind of the head, by the label of :mod:`engine.analysis.attention.heads`."""


def working_head(off: EachHeadOff, heads: Heads) -> WorkingHead:
    metric = next(name for name in off["whole"] if name != "loss")
    worst = min(off["rows"], key=lambda row: float(row[metric]))
    place = HeadIndex(worst["which"], worst["layer"], worst["head"])
    kind = next(row["kind"] for row in heads["rows"] if HeadIndex(row["which"], row["layer"], row["head"]) == place)
    return WorkingHead(place, metric, off["whole"][metric], worst[metric], kind)


def save(head: WorkingHead, folder: Path) -> None:
    write_whole(folder / FILE, json.dumps(asdict(head), indent=1) + "\n")


def load(folder: Path) -> WorkingHead:
    row = json.loads((folder / FILE).read_text("utf-8"))
    return WorkingHead(**row | {"place": HeadIndex(**row["place"])})
