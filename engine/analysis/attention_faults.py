"""The classic faults of attention, as settings switched on in a trained model's forward pass.

The weights do not change, only the forward pass.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.analysis.attention_asked import ModelAsked
from engine.config.run_config import RunConfig


@dataclass(frozen=True)
class Fault:
    """A fault as changes to settings of RunConfig. Faults of one ``group`` exclude each other."""

    label: str
    group: str
    changes: tuple[tuple[str, object], ...]
    explanation: str


MATERIALISED = ("attention_impl", "materialised")
FAULTS: dict[str, Fault] = {
    "mask_missing": Fault(
        "Mask missing", "mask", (("mask_fault", "missing"),),
        "Every position sees every other, the answer it has to give among them.",
    ),
    "mask_transposed": Fault(
        "Mask transposed", "mask", (("mask_fault", "transposed"),),
        "Upper and lower triangle are swapped: a position sees itself and what comes later.",
    ),
    "mask_off_by_one": Fault(
        "Mask off by one", "mask", (("mask_fault", "off_by_one"),),
        "The triangle reaches one key too far: a position sees the next token, which is its answer.",
    ),
    "query_softmax": Fault(
        "Softmax over queries", "softmax", (("softmax_axis", "query"), MATERIALISED),
        "The softmax runs down the columns: queries compete for a key instead of keys for a query.",
    ),
    "no_scale": Fault(
        "No 1/√d_head", "score", (("attention_score", "dot"),),
        "Scores of wide heads are large, the softmax is nearly one-hot, and its gradient nearly zero.",
    ),
    "no_skip": Fault(
        "No skip connections", "skips", (("skips", False),),
        "Each branch takes the place of its input instead of being added to it.",
    ),
    "no_norm": Fault(
        "No LayerNorm", "norm", (("norm", "none"),),
        "What attention reads has whatever size the layers before gave it.",
    ),
}  # fmt: skip


def why_not(config: RunConfig, name: str) -> str:
    """The reason why a fault cannot be switched on in this model, in one sentence; empty where it can."""
    if FAULTS[name].group == "mask" and not config.causal:
        return "An encoder has no causal mask to break."
    if name == "no_scale" and config.attention_score != "scaled_dot":
        return f"This run's score is {config.attention_score}, which has no 1/√d_head."
    if all(config.value(setting) == value for setting, value in FAULTS[name].changes if setting != "attention_impl"):
        return "This run was trained with it."
    return ""


def with_faults(asked: ModelAsked, names: Collection[str]) -> ModelAsked:
    """The same trained model with the faults switched on."""
    changes = {setting: value for name in FAULTS if name in names for setting, value in FAULTS[name].changes}
    return ModelAsked(asked.config, asked.weights, asked.step, tuple(changes.items()))
