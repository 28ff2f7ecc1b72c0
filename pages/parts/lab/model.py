"""The picture of the model as a control: what a click on a part of it changes in the settings, and what it opens."""

from contextlib import suppress

import streamlit as st

from engine.config.run_config import RunConfig, changes_between
from engine.settings.errors import ConfigError
from pages.parts.app.frame import last_received, received
from pages.parts.boards.component import Plain
from pages.parts.boards.live.stack import PartKind, part_kinds, stack_of
from pages.parts.lab.controls import submit
from pages.parts.lab.form import open_settings
from pages.parts.lab.state import SETTINGS, form_config

TRAINING = ("Training", "Data")
"""The groups of settings that change no model."""
KEY = "board"
"""The key of the lab's board."""
RECEIVED = "board.received"
"""The session key of the number of the last click on a part that was received."""


def model_of(config: RunConfig, shown: RunConfig | None) -> Plain:
    """The model of the picture as plain data. ``shown``: the config of the run that the board shows; without one it is ``config``, that of
    the form, to which the controls belong."""
    model = stack_of(shown or config)
    changed = shown is not None and any(row.group not in TRAINING for row, _, _ in changes_between(shown, config))
    open_groups = {row.group for row in SETTINGS.rows().values() if _free(row.name)}
    parts = {
        name: part | {"opens": kind.opens if kind.opens in open_groups else "", "trains": _trains(config, kind)}
        for name, part in model["parts"].items()
        for kind in [part_kinds()[name]]
    }
    return model | {"parts": parts, "changed": changed, "controls": True, "received": last_received(RECEIVED)}


def act() -> None:
    """Parts of the picture were clicked: change the settings, open the group of settings, or train, as they ask."""
    changes: Plain = {}
    for asked in received((st.session_state.get(KEY) or {}).get("act"), RECEIVED):
        values = asked.get("set")
        changes |= {name: value for name, value in values.items() if _free(name)} if isinstance(values, dict) else {}
        if asked.get("open"):
            open_settings(str(asked["open"]))
    if changes:
        SETTINGS.put(changes)
        with suppress(ConfigError):  # the page says which settings do not go together
            submit(form_config())


def _trains(config: RunConfig, kind: PartKind) -> Plain | None:
    """The settings with which a model without the part is trained, or again one with it; None where there are none to change."""
    if kind.without:
        lacks = kind.is_off(config) or kind.is_broken(config)
        label = f"Train {'with' if lacks else 'without'} {kind.noun}"
        sets: Plain = dict(kind.restored if lacks else kind.without)
    elif kind.fewer and getattr(config, kind.fewer) > 1:
        label, sets = f"Train with one {kind.noun} fewer", {kind.fewer: getattr(config, kind.fewer) - 1}
        if kind.fewer == "n_heads":  # the others keep their width
            sets["d_head"] = config.head_width
    else:
        return None
    return {"label": label, "set": sets} if all(map(_free, sets)) else None


def _free(name: str) -> bool:
    """Whether the link leaves the setting to the reader."""
    return bool(SETTINGS.drawn(name)) and not SETTINGS.locks(name)
