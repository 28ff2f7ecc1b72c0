"""The model of a config as its picture draws it: how many layers and heads, what joins them, and the words of each part."""

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
    """A kind of part, as ``stack.toml`` says what each field means."""

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
        """Return whether the models of a config are made without it."""
        return bool(self.without) and not self._is_a_fault and _holds(config, self.without)

    def is_broken(self, config: RunConfig) -> bool:
        """Return whether a fault of the config breaks it."""
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
    """The model as plain data for the picture.

    ``stacks``: the kinds of attention of its stacks, the answering one first, each with the prefix of its layers' names in the gradient
    norms and in the names of removable parts. ``question``: where in a sample the symbols of its question stand; ``shortest``: the fewest
    of them that are not new to the model, with ``lengths``, the sentence on those that it is trained on.
    """
    two, attends = config.family == "encoder_decoder", config.architecture.attends
    stacks = [{"kind": "self", "prefix": ""}, *([{"kind": "encoder", "prefix": "e"}] if two else [])]
    kinds = (["encoder"] if two else []) + ["self"] + (["cross"] if two else [])
    shared = config.share_layers and attends
    there = {part.kind for part in parts_of(config).values()}
    parts = {name: _plain(config, kind, takes=kind.takes in there) for name, kind in _drawn(config).items()}
    return {
        "family": config.family, "layers": config.n_layers,
        "heads": config.n_heads if attends else 0, "kinds": kinds if attends else [], "stacks": stacks,
        "gradients": [0 if shared else layer for layer in range(config.n_layers)], "kernel": KERNEL,
        "skips": config.skips and config.family not in ("gru", "lstm"), "question": _question(config),
        "lead": config.task_settings.lead_tokens, "parts": parts, "controls": False,
        "shortest": shortest_known(config), "lengths": lengths_in_words(config),
    }  # fmt: skip


def _question(config: RunConfig) -> str:
    """Where the question's symbols stand: in the ``source``, in the first ``half`` of the tokens, or in ``all`` of them; empty where a text
    is its own answer."""
    if TASKS[config.task].corpus:
        return ""
    if config.family == "encoder_decoder":
        return "source"
    return "half" if continues(config) else "all"


def _drawn(config: RunConfig) -> dict[str, StackPart]:
    """The kinds of parts that the picture has, with the words that depend on the config."""
    found = {name: kind for name, kind in part_kinds().items() if config.family in kind.families}
    found["embedding"] = replace(
        found["embedding"], says=found["embedding"].says.replace("{width}", str(config.d_model))
    )
    found["loss"] = replace(found["loss"], label=f"output, {OPTIMIZERS[config.optimizer]}")
    if "encoding" in found:
        label = short_label(ENCODINGS[config.pos_encoding].label)
        found["encoding"] = replace(
            found["encoding"], label=label, title=f"{found['encoding'].title}: {ENCODINGS[config.pos_encoding].label}"
        )
    return found


def _plain(config: RunConfig, kind: StackPart, *, takes: bool) -> Json:
    """A part. ``takes``: whether it can be taken away. ``trains`` and ``opens`` are for the page to fill in, if it has settings."""
    issue = {"slug": kind.issue, "title": ISSUES[kind.issue].title} if kind.issue in ISSUES else None
    words = {name: getattr(kind, name) for name in ("slot", "label", "title", "says", "expects", "spare", "noun")}
    state = {"takes": kind.takes if takes else "", "off": kind.is_off(config), "fault": kind.is_broken(config)}
    return words | state | {"issue": issue, "trains": None, "opens": ""}
