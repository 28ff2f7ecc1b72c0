"""The model of a config for its picture: its layers and heads, their connections, and the words of each part."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from engine.analysis.attention.parts import parts_of
from engine.analysis.attention.requests import lengths_in_words, shortest_known
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.layout import continues
from engine.experiments.issues import ISSUES
from engine.foundation.once import once
from engine.foundation.tables import Text, read_tables
from engine.settings.architectures import KERNEL
from engine.tasks import TASKS
from pages.parts.boards.component import Json
from pages.parts.charts.experiments.stack import OPTIMIZERS, short_label


@dataclass(frozen=True)
class StackPart:
    """A kind of part; ``stack.toml`` explains the fields."""

    slug: str
    slot: Literal["row", "layer", "head", "output", "heads", "input"]
    families: tuple[str, ...]
    label: str
    title: str
    says: Text
    expects: Text = ""
    spare: Text = ""
    issue: str = ""
    takes: str = ""
    noun: str = ""
    without: Mapping[str, bool | str] = field(default_factory=dict)
    restored: Mapping[str, bool | str] = field(default_factory=dict)
    fewer: str = ""
    opens: str = ""

    def is_off(self, config: RunConfig) -> bool:
        return bool(self.without) and not self._is_a_fault and _holds(config, self.without)

    def is_broken(self, config: RunConfig) -> bool:
        return self._is_a_fault and not _holds(config, self.restored)

    @property
    def _is_a_fault(self) -> bool:
        return self.opens == "Faults"


def _holds(config: RunConfig, values: Mapping[str, bool | str]) -> bool:
    return all(getattr(config, name) == value for name, value in values.items())


@once
def part_kinds() -> dict[str, StackPart]:
    return read_tables(Path(__file__).with_suffix(".toml"), StackPart)


def stack_of(config: RunConfig) -> Json:
    """Return the model as JSON for the picture.

    ``stacks``: the kinds of attention of its stacks, the answering one first, each with the prefix of its layers' names
    in the gradient norms and in the names of removable parts. ``question``: see :func:`_question`. ``shortest``: the
    fewest symbols of a question that are not new to the model, with ``lengths``, the sentence on its training lengths.
    """
    two, attends = config.family == "encoder_decoder", config.architecture.attends
    stacks = [{"kind": "self", "prefix": ""}, *([{"kind": "encoder", "prefix": "e"}] if two else [])]
    kinds = (["encoder"] if two else []) + ["self"] + (["cross"] if two else [])
    shared = config.share_layers and attends
    part_kinds_of_model = {part.kind for part in parts_of(config).values()}
    parts = {
        name: part_json(config, kind, takes=kind.takes in part_kinds_of_model)
        for name, kind in _stack_parts(config).items()
    }
    return {
        "family": config.family, "layers": config.n_layers,
        "heads": config.n_heads if attends else 0, "kinds": kinds if attends else [], "stacks": stacks,
        "gradients": [0 if shared else layer for layer in range(config.n_layers)], "kernel": KERNEL,
        "skips": config.skips and config.family not in ("gru", "lstm"), "question": _question(config),
        "lead": config.task_settings.lead_tokens, "parts": parts, "controls": False,
        "shortest": shortest_known(config), "lengths": lengths_in_words(config),
    }  # fmt: skip


def _question(config: RunConfig) -> str:
    """Return the position of the question's symbols in a sample: the ``source``, the first ``half`` of the tokens, or
    ``all`` of them; empty if a text is its own answer."""
    if TASKS[config.task].corpus:
        return ""
    if config.family == "encoder_decoder":
        return "source"
    return "half" if continues(config) else "all"


def _stack_parts(config: RunConfig) -> dict[str, StackPart]:
    kinds = {name: kind for name, kind in part_kinds().items() if config.family in kind.families}
    kinds["embedding"] = replace(
        kinds["embedding"], says=kinds["embedding"].says.replace("{width}", str(config.d_model))
    )
    kinds["loss"] = replace(kinds["loss"], label=f"output, {OPTIMIZERS[config.optimizer]}")
    if "encoding" in kinds:
        label = short_label(ENCODINGS[config.pos_encoding].label)
        kinds["encoding"] = replace(
            kinds["encoding"], label=label, title=f"{kinds['encoding'].title}: {ENCODINGS[config.pos_encoding].label}"
        )
    return kinds


def part_json(config: RunConfig, kind: StackPart, *, takes: bool) -> Json:
    """Return a part as JSON. ``takes``: it can be ablated. A page with settings fills in ``trains`` and ``opens``."""
    issue = {"slug": kind.issue, "title": ISSUES[kind.issue].title} if kind.issue in ISSUES else None
    words = {name: getattr(kind, name) for name in ("slot", "label", "title", "says", "expects", "spare", "noun")}
    state = {"takes": kind.takes if takes else "", "off": kind.is_off(config), "fault": kind.is_broken(config)}
    return words | state | {"issue": issue, "trains": None, "opens": ""}
