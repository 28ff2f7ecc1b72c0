"""A disk that takes nothing more."""

from errno import ENOSPC


def full(*_: object, **__: object) -> None:
    """In place of whatever writes."""
    raise OSError(ENOSPC, "No space left on device")
