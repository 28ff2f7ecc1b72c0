from collections.abc import Collection, Mapping
from difflib import get_close_matches

MIN_SIMILARITY = 0.7  # of a known name that is proposed, from 0 to 1 (``difflib.SequenceMatcher.ratio``)
MAX_COMPARED_CHARACTERS = 60


def resolve_name(given: str, known: Collection[str], renamed: Mapping[str, str] | None = None) -> str:
    """The one known name that a text can mean, whatever its capitals and the signs between its words; else the text itself.

    ``renamed``: the present name by each earlier one, so that old links and files still work.
    """
    if given in known:
        return given
    normalised, renamed = _normalised(given), renamed or {}
    alike = [name for name in (*known, *renamed) if _normalised(name) == normalised]
    return renamed.get(alike[0], alike[0]) if len(alike) == 1 else given


def did_you_mean(given: str, known: Collection[str]) -> str:
    """A question that names the nearest known name; empty if none is near."""
    by_normalised = {_normalised(name): name for name in known}
    near = get_close_matches(_normalised(given[:MAX_COMPARED_CHARACTERS]), by_normalised, n=1, cutoff=MIN_SIMILARITY)
    return f"Did you mean {by_normalised[near[0]]}?" if near else ""


def _normalised(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
