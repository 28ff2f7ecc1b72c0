"""The differences of two configs in words."""

from __future__ import annotations

from engine.config.run_config import RunConfig, changes_between


def difference(before: RunConfig, after: RunConfig) -> str:
    """The differences in words: "Depth 1 → 2, Heads 1 → 4"; default parameters of a new choice are left out."""
    old, parts = before.flat(), []
    for row, was, now in changes_between(before, after):
        if row.name in old:
            parts.append(f"{row.label} {row.words(was)} → {row.words(now)}")
    return ", ".join(parts)


def named_by_difference(earlier: RunConfig, present: RunConfig) -> str:
    """The name of an earlier run by its settings that differ from the present run's: "Depth 1, Heads 1"."""
    now = present.flat()
    rows = [(row, value) for row, _, value in changes_between(present, earlier) if row.name in now]
    return ", ".join(f"{row.label} {row.words(value)}" for row, value in rows) or "the same settings"
