"""The model of a config as its picture draws it: how many layers and heads, what joins them, and the words of each part."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from engine.analysis.attention.parts import parts_of
from engine.architectures import KERNEL
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.layout import continues
from engine.experiments.issues import ISSUES
from engine.foundation.tables import Text, read_tables
from engine.tasks import TASKS
from pages.parts.charts.experiments.stack import OPTIMIZERS, short_label

Plain = dict[str, Any]


@dataclass(frozen=True)
class Words:
    """The words of the box at a part."""

    slug: str
    title: str
    label: str
    """The name on its button."""
    says: Text
    noun: str = ""
    expects: Text = ""
    issue: str = ""


@cache
def words() -> dict[str, Words]:
    return read_tables(Path(__file__).with_suffix(".toml"), Words)


def stack_of(config: RunConfig) -> Plain:
    """The model as plain data for the picture.

    ``stacks``: the kinds of attention of its stacks, the one that answers first, each with the beginning of its layers' names in gradient
    norms and in parts that can be taken away. ``question``: where in a sample the symbols of its question stand.
    """
    two, attends = config.family == "encoder_decoder", config.architecture.attends
    stacks = [{"kind": "self", "prefix": ""}, *([{"kind": "encoder", "prefix": "e"}] if two else [])]
    kinds = (["encoder"] if two else []) + ["self"] + (["cross"] if two else [])
    shared = config.share_layers and attends
    there = {part.kind for part in parts_of(config).values()} | {"cell"}
    parts = {name: _plain(config, name, one, takes=name in there) for name, one in _drawn(config).items()}
    return {
        "family": config.family, "label": config.architecture.label, "layers": config.n_layers,
        "heads": config.n_heads if attends else 0, "kinds": kinds if attends else [], "stacks": stacks,
        "gradients": [0 if shared else layer for layer in range(config.n_layers)], "kernel": KERNEL,
        "skips": config.skips and config.family not in ("gru", "lstm"), "question": _question(config),
        "lead": config.task_settings.lead_tokens, "parts": parts, "controls": False,
    }  # fmt: skip


def _question(config: RunConfig) -> str:
    """Where the question's symbols stand: in the ``source``, in the first ``half`` of the tokens, or in ``all`` of them; empty where a text
    is its own answer."""
    if TASKS[config.task].corpus:
        return ""
    if config.family == "encoder_decoder":
        return "source"
    return "half" if continues(config) else "all"


def _drawn(config: RunConfig) -> dict[str, Words]:
    """The words of the parts that the picture has."""
    attends, recurrent = config.architecture.attends, config.family in ("gru", "lstm")
    left_out = set() if attends else {"mlp", "layer", "head", "heads", "mask", "encoding"}
    left_out |= {"skip", "norm"} if recurrent else set()
    left_out |= {"cell"} if attends else set()
    if not config.causal:
        left_out.add("mask")
    found = {name: one for name, one in words().items() if name not in left_out}
    found["embedding"] = replace(
        found["embedding"], says=found["embedding"].says.replace("{width}", str(config.d_model))
    )
    found["loss"] = replace(found["loss"], label=f"output, {OPTIMIZERS[config.optimizer]}")
    if attends:
        label = short_label(ENCODINGS[config.pos_encoding].label)
        found["encoding"] = replace(
            found["encoding"], label=label, title=f"{found['encoding'].title}: {ENCODINGS[config.pos_encoding].label}"
        )
    return found


def _plain(config: RunConfig, name: str, one: Words, *, takes: bool) -> Plain:
    """A part. ``takes``: whether it can be taken away; ``off``: whether the model was made without it; ``fault``: whether it is broken."""
    issue = {"slug": one.issue, "title": ISSUES[one.issue].title} if one.issue in ISSUES else None
    off = {
        "skip": not config.skips, "norm": config.norm == "none", "mlp": not config.mlp,
        "encoding": config.pos_encoding == "nope",
    }.get(name, False)  # fmt: skip
    return {
        "title": one.title, "label": one.label, "noun": one.noun, "says": one.says, "expects": one.expects, "issue": issue, "takes": takes,
        "off": off, "fault": name == "mask" and config.mask_fault != "none", "trains": None, "opens": "",
    }  # fmt: skip
