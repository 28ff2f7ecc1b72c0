"""The drawing of the model from the present settings: what the board draws, and what a click on a part of it does."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.config.run_config import RunConfig, changes_between
from engine.encodings import ENCODINGS
from engine.tasks import TASKS
from pages.parts.charts.experiments.stack import OPTIMIZERS, short_label
from pages.parts.lab.form import open_settings
from pages.parts.lab.state import SETTINGS

MOST_LAYERS = 3
"""The most layers of a stack that are drawn; of more, the first and the last."""
TRAINING = ("Training", "Data")
"""The groups of settings that change no model."""
KEY = "board"
"""The key of the lab's board."""

Plain = dict[str, Any]


def model_of(config: RunConfig, shown: RunConfig | None) -> Plain:
    """The model as plain data for ``model.js``. ``shown``: the config whose snapshots the board has; its attention stands in the
    drawing as long as the model is the same."""
    task, encoding = TASKS[config.task].label, short_label(ENCODINGS[config.pos_encoding].label)
    loss = f"Loss, {OPTIMIZERS[config.optimizer]}"
    return {
        "read": [
            _part("task", task, "The task: open its settings", opens="Task"),
            _part("positions", encoding, "The positional encoding: open its settings", opens="Encoding"),
        ],
        "stacks": _stacks(config),
        "common": _common(config),
        "write": [_part("training", loss, "The optimizer: open its settings", opens="Training")],
        "fits": shown is None or all(row.group in TRAINING for row, _, _ in changes_between(shown, config)),
    }


def act() -> None:
    """A part of the drawing was clicked: change the setting, or open the group of settings, that it asks for."""
    asked = (st.session_state.get(KEY) or {}).get("act") or {}
    for name, value in asked.get("set", {}).items():
        if _free(name):
            SETTINGS.put({name: value})
    if asked.get("open"):
        open_settings(asked["open"])


def _stacks(config: RunConfig) -> list[Plain]:
    if config.family == "encoder_decoder":
        return [_stack(config, "Encoder", "encoder", "e"), _stack(config, "Decoder", "self", "")]
    return [_stack(config, "", "self", "")]


def _stack(config: RunConfig, title: str, kind: str, gradients: str) -> Plain:
    """A stack of layers. ``kind`` names its attention in snapshots, ``gradients`` begins the names of its layers in gradient norms."""
    count, numbers = config.n_layers, list(range(config.n_layers))
    if count > MOST_LAYERS:
        numbers = [0, count - 1]
    layers: list[Plain] = [{"name": f"Layer {n + 1}"} for n in numbers]
    if count > MOST_LAYERS:
        layers.insert(1, {"skipped": f"… {count - 2} more …"})
    shared = config.share_layers and config.architecture.attends
    return {
        "title": title, "layers": layers, "numbers": numbers, "norms": [0 if shared else n for n in numbers],
        "kind": kind, "gradients": gradients, "skip": _skip(config) if config.architecture.attends else None,
    }  # fmt: skip


def _skip(config: RunConfig) -> Plain:
    help = "The input of each part is added to its output: click to cut the skip connections of all layers"
    if not config.skips:
        help = "The skip connections of all layers are cut: click to mend them"
    return _part("skip", "Skip connection", help, off=not config.skips, sets={"skips": not config.skips})


def _common(config: RunConfig) -> list[Plain]:
    """The parts that all layers have, in the order of computation: their settings are the same."""
    if not config.architecture.attends:
        return [_part("cell", config.architecture.label, "The family: open its settings", opens="Shape")]
    heads = f"{config.n_heads} head{'s' if config.n_heads > 1 else ''}"
    parts = [_part("attention", heads, "The attention of each layer: open its settings", opens="Attention")]
    if config.causal:
        broken = config.mask_fault != "none"
        help = "No position sees a later one: click to take the mask away"
        if broken:
            help = "The mask is broken: click to mend it"
        parts.append(_part("mask", "mask", help, fault=broken, sets={"mask_fault": "none" if broken else "missing"}))
    if config.mlp:
        parts.append(_part("mlp", "MLP", "The network after the attention: open its settings", opens="Block"))
    if config.norm != "none":
        parts.append(_part("norm", "norm", "The normalisation: open its settings", opens="Block"))
    return parts


def _part(
    kind: str, label: str, help: str, *, opens: str = "", sets: Mapping[str, Any] | None = None, **more: bool
) -> Plain:
    does = {"set": dict(sets)} if sets and all(map(_free, sets)) else {"open": opens} if opens else None
    return {"part": kind, "label": label, "help": help, "does": does, **more}


def _free(name: str) -> bool:
    """Whether the link leaves the setting to the reader."""
    return bool(SETTINGS.drawn(name)) and not SETTINGS.locks(name)
