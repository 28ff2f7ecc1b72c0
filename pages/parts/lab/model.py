"""The picture of the model as a control: what a click on a part of it changes in the settings, and what it opens."""

from contextlib import suppress

import streamlit as st

from engine.config.run_config import RunConfig, changes_between
from engine.settings.errors import ConfigError
from pages.parts.boards.live.stack import Plain, stack_of
from pages.parts.lab.controls import submit
from pages.parts.lab.form import open_settings
from pages.parts.lab.state import SETTINGS, form_config

TRAINING = ("Training", "Data")
"""The groups of settings that change no model."""
KEY = "board"
"""The key of the lab's board."""
OPENS = {
    "skip": "Block", "norm": "Block", "mlp": "Block", "layer": "Shape", "cell": "Shape", "head": "Attention", "heads": "Attention",
    "mask": "Faults", "encoding": "Encoding", "embedding": "Task", "loss": "Training",
}  # fmt: skip
"""The group of settings to which a part belongs."""


def model_of(config: RunConfig, shown: RunConfig | None) -> Plain:
    """The model of the picture as plain data. ``shown``: the config of the run that the board shows; without one it is ``config``, that of
    the form, to which the controls belong."""
    model = stack_of(shown or config)
    changed = shown is not None and any(row.group not in TRAINING for row, _, _ in changes_between(shown, config))
    parts = {
        name: part | {"opens": OPENS[name] if _any_free(OPENS[name]) else "", "trains": _trains(config, name)}
        for name, part in model["parts"].items()
    }
    return model | {"parts": parts, "changed": changed, "controls": True}


def act() -> None:
    """A part of the picture was clicked: change the settings, open the group of settings, or train, as it asks."""
    asked = (st.session_state.get(KEY) or {}).get("act") or {}
    changes = {name: value for name, value in asked.get("set", {}).items() if _free(name)}
    for name, value in changes.items():
        SETTINGS.put({name: value})
    if asked.get("open"):
        open_settings(asked["open"])
    if changes:
        with suppress(ConfigError):  # the page says which settings do not go together
            submit(form_config())


def _trains(config: RunConfig, name: str) -> Plain | None:
    """The settings with which a model without the part is trained, or again one with it; None where there are none to change."""
    found = _changes(config).get(name)
    if found is None:
        return None
    label, sets = found
    return {"label": label, "set": sets} if all(map(_free, sets)) else None


def _changes(config: RunConfig) -> dict[str, tuple[str, Plain]]:
    """By part, the words of the button and the settings that it changes."""
    mask, fewer = config.mask_fault == "none", ("Train with one layer fewer", {"n_layers": config.n_layers - 1})
    changes = {
        "skip": _switch(config.skips, "skips", "skips", False, True),
        "norm": _switch(config.norm != "none", "norms", "norm", "none", "pre"),
        "mlp": _switch(config.mlp, "MLPs", "mlp", False, True),
        "mask": _switch(mask, "the mask", "mask_fault", "missing", "none"),
        "encoding": _switch(config.pos_encoding != "nope", "an encoding", "pos_encoding", "nope", "learned"),
    }
    if config.n_layers > 1:
        changes |= {"layer": fewer, "cell": fewer}
    if config.n_heads > 1:
        sets = {"n_heads": config.n_heads - 1, "d_head": config.head_width}
        changes["head"] = ("Train with one head fewer", sets)
    return changes


def _switch(there: bool, noun: str, name: str, without: object, with_it: object) -> tuple[str, Plain]:
    return (f"Train without {noun}", {name: without}) if there else (f"Train with {noun}", {name: with_it})


def _any_free(group: str) -> bool:
    """Whether the link leaves a setting of the group to the reader."""
    return any(row.group == group and _free(row.name) for row in SETTINGS.rows().values())


def _free(name: str) -> bool:
    """Whether the link leaves the setting to the reader."""
    return bool(SETTINGS.drawn(name)) and not SETTINGS.locks(name)
