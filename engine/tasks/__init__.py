"""The registry of tasks.

A new one has ``engine/tasks/<name>/__init__.py`` with its settings and facts, ``engine/tasks/<name>/data.py`` with its sequences and
answers, and one line here.
"""

from pkgutil import resolve_name

from engine.tasks.base import GROUPS, Group, TaskSpec

# folders, in the order of every list
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
    "trigger",
    "lookup",
    "hops",
    "shakespeare_chars",
    "shakespeare_words",
)
# the task whose model reads seq_len tokens and nothing else: for counting, timing and drawing if the task does not matter
PLAIN = "own_position"
TASKS: dict[str, TaskSpec] = {name: resolve_name(f"engine.tasks.{name}:SPEC") for name in NAMES}
BY_GROUP: dict[Group, tuple[TaskSpec, ...]] = {
    group: tuple(spec for spec in TASKS.values() if spec.group == group) for group in GROUPS
}
