"""The settings of the encodings page: one table, from which widgets, link and configs are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.config.run_config import RunConfig, parse, settings_for
from engine.encodings import ENCODINGS
from engine.settings.fields import AUTO, Setting, settings_in
from engine.tasks import PLAIN

SIDES = ("a", "b")
VIEWS = {"compare": "Side by side", "training": "Through training", "choose": "Which one should I use?"}
LONGEST, FURTHEST = 512, 1024
"""The longest trained length and the most positions shown."""
BASES = ("sinusoid_base", "rope_base")
"""The settings of the longest wavelength: two different encodings share one."""

_OF_RUN = {row.name: row for row in settings_for(PLAIN)}


def _choice(name: str, label: str, help: str, choices: Mapping[str, str], default: str) -> Setting:
    return Setting(
        name, "choice", default, label, help, "", choices=tuple(choices), choice_labels=tuple(choices.values())
    )


def _encoding(side: str, default: str) -> Setting:
    labels = {name: row.label for name, row in ENCODINGS.items()}
    return _choice(side, f"Encoding {side.upper()}", "What stands in this column.", labels, default)


def _of_run(name: str, **changes: Any) -> Setting:
    return replace(_OF_RUN[name], **changes)


FIXED = (
    _choice("view", "View", "What this page shows.", VIEWS, "compare"),
    _encoding("a", "sinusoidal"),
    _encoding("b", "rope"),
    _of_run("d_model", default=64, maximum=512),
    _of_run("n_heads", default=4, maximum=16),
    _of_run("seq_len", default=64, maximum=LONGEST, label="Trained length", help="Positions that training reaches."),
    Setting(
        "reach", "int", 2, "Shown to (× trained)",
        f"Positions beyond the trained length are shown too: up to so many times it, and {FURTHEST:,} at most.", "",
        minimum=1, maximum=4,
    ),
    _choice(
        "sight", "Attention looks", "A causal encoding need not tell apart what is never seen.",
        {"back": "Back only (causal)", "both": "Both ways"}, "back",
    ),
    _choice(
        "likeness", "Similarity", "Cosine leaves out how long the vectors are; the dot product does not.",
        {"cosine": "Cosine", "dot": "Dot product"}, "cosine",
    ),
    _of_run("token_init_std", help="Standard deviation of the tokens beside which the encoding stands."),
    _of_run("seed", help="Draws the first values of what is learned."),
)  # fmt: skip
SHARED_BASE = Setting(
    "base", "float", 10_000.0, "Base", "b in both formulas: the larger, the slower the slowest wave.", "", minimum=2.0, maximum=1e7,
)  # fmt: skip


def settings(values: Mapping[str, Any]) -> dict[str, Setting]:
    """Every setting that exists with these encodings, by its name in the link; those of one side are ``a.<name>``."""
    rows = {row.name: row for row in FIXED}
    own = {side: list(settings_in(ENCODINGS[values.get(side, rows[side].default)].settings)) for side in SIDES}
    shares = shares_base(values)
    for side, found in own.items():
        rows |= {
            f"{side}.{row.name}": replace(row, name=f"{side}.{row.name}")
            for row in found
            if not (shares and row.name in BASES)
        }
    if shares and any(row.name in BASES for found in own.values() for row in found):
        rows[SHARED_BASE.name] = SHARED_BASE
    return rows


def positions_shown(values: Mapping[str, Any]) -> int:
    rows = {row.name: row.default for row in FIXED}
    length, reach = (int(values.get(name, rows[name])) for name in ("seq_len", "reach"))
    return min(length * reach, FURTHEST)


def shares_base(values: Mapping[str, Any]) -> bool:
    """Whether the sides share one base: two different encodings do; two of a kind are compared base against base."""
    return bool(values.get("a", "sinusoidal") != values.get("b", "rope"))


def config_of(values: Mapping[str, Any], side: str) -> RunConfig:
    """The config from which the encoding of a side is built. Raises ConfigError."""
    known = settings(values)
    now = {name: values.get(name, row.default) for name, row in known.items()}
    name = now[side]
    own = {
        row.name: now.get(f"{side}.{row.name}", now.get(SHARED_BASE.name, row.default))
        for row in settings_in(ENCODINGS[name].settings)
        if f"{side}.{row.name}" in now or row.name in BASES
    }
    shared = {name: now[name] for name in ("d_model", "n_heads", "seq_len", "token_init_std", "seed")}
    family = "decoder" if now["sight"] == "back" else "encoder"
    return parse({"task": PLAIN, "family": family, "pos_encoding": name, "batch_size": 8, **shared, **own})


def read_value(row: Setting, text: str) -> Any:
    """A setting's value from the text of a link. Raises ValueError where it is not allowed."""
    if row.optional and text == AUTO:
        return None
    if row.kind == "choice":
        return row.choices[row.choices.index(text)]
    if row.kind == "text":
        return text  # the config checks the allowed values
    if row.kind == "bool":
        return {"true": True, "false": False}.get(text) if text in ("true", "false") else _refuse(text)
    number = int(text) if row.kind == "int" else float(text)
    low, high = row.minimum, row.maximum
    inside = math.isfinite(number) and (low is None or number >= low) and (high is None or number <= high)
    return number if inside else _refuse(text)


def _refuse(text: str) -> Any:
    raise ValueError(text)
