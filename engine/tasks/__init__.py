"""The registry of tasks.

To add one: write ``engine/tasks/<name>/spec.py`` with what is known of it and ``engine/tasks/<name>/data.py`` with its sequences
and answers, and add one line here.
"""

from __future__ import annotations

from pkgutil import resolve_name

from engine.tasks.spec import TaskSpec

NAMES = (
    "reverse",
    "copy",
    "k_back",
    "sort",
    "first_token",
    "permutation",
    "content_offset",
    "own_position",
    "parity",
    "dyck",
    "recall",
    "markov",
    "key_token",
    "cue_majority",
    "lookup",
    "shakespeare_chars",
    "shakespeare_words",
)
"""In the order of every list."""
TASKS: dict[str, TaskSpec] = {name: resolve_name(f"engine.tasks.{name}.spec:SPEC") for name in NAMES}
