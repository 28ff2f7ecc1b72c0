"""RunConfig: the one table. Every name, bound, default, label and help of a run stands here once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from engine.architectures import FAMILIES, FamilyRow
from engine.config.validators import broken_rules
from engine.encodings import ENCODINGS
from engine.settings.errors import ConfigError, Problem, problems_in, shown
from engine.settings.fields import Parameters, Setting, from_text, setting, settings_in, to_text
from engine.tasks import TASKS

COMPOSED: dict[str, tuple[str, Mapping[str, Any]]] = {
    "task": ("task_settings", TASKS),
    "pos_encoding": ("encoding_settings", ENCODINGS),
}
"""Which field chooses a registry row, and where that row's own parameters live."""

Family = Literal["decoder", "encoder", "encoder_decoder", "gru", "lstm", "cnn"]


class RunConfig(BaseModel):
    """Everything that decides a run's numbers. Frozen; the training path depends on nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    # fmt: off
    task: str = setting("reverse", label="Task", help="What the model has to learn.", group="Task")
    task_settings: SerializeAsAny[Parameters] = Parameters()
    seq_len: int = setting(
        6, label="Sequence length", help="Symbols in the task's input, at most, while training.", group="Task", ge=2, le=1024
    )
    min_seq_len: int | None = setting(
        None, label="Shortest length", help="Train on lengths from here up to the sequence length. Auto: always that one.",
        group="Task", ge=2, le=1024,
    )
    length_decay: float = setting(
        1.0, label="Length decay",
        help="How frequent each length is in training beside the next shorter one: 1 is uniform, less a geometric law, cut off.",
        group="Task", ge=0.01, le=1.0,
    )
    test_lengths: tuple[int, ...] = setting(
        (), label="Test lengths", help="Also test at these lengths, which may be longer than any trained.", group="Task"
    )

    family: Family = setting(
        "decoder", label="Family", help="What a position may see, and how the answer is written.", group="Shape",
        labels={name: row.label for name, row in FAMILIES.items()},
    )
    d_model: int = setting(32, label="Width (d_model)", help="Numbers in each token's vector.", group="Shape", ge=2, le=2048)
    n_layers: int = setting(1, label="Depth", help="How many blocks are stacked.", group="Shape", ge=1, le=48)
    n_heads: int = setting(1, label="Heads", help="Attention heads in each layer.", group="Shape", ge=1, le=64)
    d_head: int | None = setting(
        None, label="Head width (d_head)", help="Numbers in each head's query and key. Auto: d_model / heads.",
        group="Shape", ge=1, le=512,
    )
    d_ff: int | None = setting(
        None, label="MLP width (d_ff)", help="Hidden units of the MLP. Auto: twice d_model.", group="Shape", ge=1, le=8192
    )

    pos_encoding: str = setting(
        "learned", label="Positional encoding", help="How the model is told where a token stands.", group="Encoding"
    )
    encoding_settings: SerializeAsAny[Parameters] = Parameters()
    token_init_std: float = setting(
        1.0, label="Token init scale", help="Standard deviation of the token embedding's first values.",
        group="Encoding", ge=0.0, le=10.0,
    )

    tie_embeddings: bool = setting(
        False, label="Tied embeddings",
        help="The output layer's matrix is the token embedding itself; start that at a small scale, 0.1 say.", group="Encoding",
    )
    randomized_positions: int = setting(
        1, label="Randomized positions",
        help="Train at positions drawn in ascending order from a range so many times the longest length. 1: the usual 0, 1, 2, and so on.",
        group="Encoding", ge=1, le=64,
    )
    position_dropout: float = setting(
        0.0, label="Position dropout",
        help="Share of training sequences to whose embeddings no positions are added; none while testing.",
        group="Encoding", ge=0.0, le=0.9,
    )

    attention_score: Literal["scaled_dot", "dot", "additive", "cosine"] = setting(
        "scaled_dot", label="Score", help="How a query is compared with a key.", group="Attention",
        labels={
            "scaled_dot": "Scaled dot product", "dot": "Dot product, no 1/√d_head", "additive": "Additive (Bahdanau)",
            "cosine": "Cosine",
        },
    )
    attention_impl: Literal["fused", "materialised"] = setting(
        "fused", label="Implementation", help="One fused kernel, or the scores written out as a matrix. Same numbers.",
        group="Attention", labels={"fused": "Fused", "materialised": "Materialised"},
    )

    norm: Literal["pre", "post", "none"] = setting(
        "pre", label="Normalisation", help="LayerNorm before each branch, after each sum, or nowhere.", group="Block",
        labels={"pre": "Pre-LN", "post": "Post-LN", "none": "None"},
    )
    skips: bool = setting(True, label="Skip connections", help="Add each branch to its input.", group="Block")
    residual_scale: float = setting(
        1.0, label="Residual scale", help="Multiplies each branch; 1/√(2·depth) keeps the sum's size.", group="Block",
        ge=0.0, le=2.0,
    )
    mlp: bool = setting(True, label="MLP", help="The dense layers after attention in each block.", group="Block")
    activation: Literal["relu", "gelu", "none"] = setting(
        "gelu", label="Activation", help="The MLP's nonlinearity.", group="Block",
        labels={"relu": "ReLU", "gelu": "GELU", "none": "None (linear)"},
    )
    dropout: float = setting(0.0, label="Dropout", help="Share of values dropped while training.", group="Block", ge=0.0, le=0.9)
    share_layers: bool = setting(
        False, label="Layers shared", help="One block's weights used at every depth.", group="Block"
    )

    optimizer: Literal["adamw", "sgd", "muon"] = setting(
        "adamw", label="Optimizer", help="Muon takes the matrices of the blocks; AdamW the rest.", group="Training",
        labels={"adamw": "AdamW", "sgd": "SGD", "muon": "Muon"},
    )
    learning_rate: float = setting(0.01, label="Learning rate", help="The peak of the schedule.", group="Training", ge=1e-6, le=10.0)
    schedule: Literal["constant", "cosine", "linear"] = setting(
        "constant", label="Schedule", help="How the learning rate falls after warm-up.", group="Training",
        labels={"constant": "Constant", "cosine": "Cosine to zero", "linear": "Linear to zero"},
    )
    warmup_steps: int = setting(20, label="Warm-up steps", help="Steps of linear rise to the peak.", group="Training", ge=0, le=100_000)
    weight_decay: float = setting(0.0, label="Weight decay", help="Decoupled, on matrices only.", group="Training", ge=0.0, le=10.0)
    grad_clip: float | None = setting(
        1.0, label="Gradient clip", help="Largest global gradient norm. Auto: no clipping.", group="Training", ge=1e-3, le=1e3
    )
    batch_size: int = setting(32, label="Batch size", help="Sequences a step.", group="Training", ge=1, le=4096)
    steps: int = setting(300, label="Steps", help="Optimizer steps in the run.", group="Training", ge=1, le=1_000_000)
    dtype: Literal["float32", "bfloat16", "float16"] = setting(
        "float32", label="Precision", help="Of weights and activations alike, without loss scaling.", group="Training"
    )
    seed: int = setting(0, label="Seed", help="Decides first weights, data and dropout.", group="Training", ge=0, le=2**31 - 1)
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", label="Device", help="Auto takes the accelerator unless the model is so small that the CPU is faster.",
        group="Training", labels={"auto": "Auto", "cpu": "CPU", "cuda": "CUDA GPU", "mps": "Apple GPU"},
    )

    dataset_size: int | None = setting(
        None, label="Training sequences", help="A fixed set of so many. Auto: fresh ones each step.", group="Data", ge=1, le=1_000_000
    )
    pretrain_steps: int = setting(
        0, label="Pre-training steps", help="So many of the steps come first, on plenty of related sequences; 0: none.",
        group="Data", ge=0, le=1_000_000,
    )
    pretrain_on: Literal["sister", "next_token"] = setting(
        "sister", label="Pre-train on", help="What the related sequences are.", group="Data",
        labels={"sister": "Sister task (same rule, other symbols)", "next_token": "Next token, without the answers"},
    )
    label_noise: float = setting(
        0.0, label="Label noise", help="Share of training answers replaced by random ones.", group="Data", ge=0.0, le=1.0
    )

    mask_fault: Literal["none", "missing", "transposed", "off_by_one"] = setting(
        "none", label="Mask fault", group="Faults",
        help="Break the causal mask on purpose. The right mask lets a position see itself and the positions before it.",
        labels={
            "none": "None", "missing": "Missing", "transposed": "Transposed", "off_by_one": "Off by one (sees the next token)",
        },
    )
    softmax_axis: Literal["key", "query"] = setting(
        "key", label="Softmax axis", help="Over the query axis is a fault: weights of one query need not sum to one.",
        group="Faults", labels={"key": "Keys", "query": "Queries (fault)"},
    )
    # fmt: on

    @model_validator(mode="before")
    @classmethod
    def _compose(cls, data: Any) -> Any:
        """Accept the flat form: move each chosen row's parameters into its own model."""
        flat = dict(data)
        for chooser, (place, registry) in COMPOSED.items():
            row = registry.get(flat.get(chooser, cls.model_fields[chooser].default))
            own = row.parameters.model_fields if row else {}
            given = flat.pop(place, None)
            values = given.model_dump() if isinstance(given, BaseModel) else dict(given or {})
            values |= {name: flat.pop(name) for name in own if name in flat}
            flat[place] = row.parameters(**from_text(values, row.parameters)) if row else Parameters()
        return from_text(flat, cls)

    @field_validator(*COMPOSED)
    @classmethod
    def _known(cls, value: str, info: Any) -> str:
        registry = COMPOSED[info.field_name][1]
        if value not in registry:
            raise PydanticCustomError("choice", "one of {names}", {"names": ", ".join(registry)})
        return value

    @field_validator("test_lengths")
    @classmethod
    def _lengths(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(not 2 <= length <= 2048 for length in value) or len(value) > 16:
            raise PydanticCustomError("choice", "at most 16 whole numbers from 2 to 2048, separated by commas")
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _agree(self) -> RunConfig:
        broken = next(broken_rules(self), None)
        if broken is not None:
            raise PydanticCustomError("rule", "{allowed}", vars(broken))
        return self

    @property
    def head_width(self) -> int:
        return self.d_head or self.d_model // self.n_heads

    @property
    def mlp_width(self) -> int:
        return self.d_ff or 2 * self.d_model

    @property
    def family_row(self) -> FamilyRow:
        return FAMILIES[self.family]

    @property
    def causal(self) -> bool:
        return self.family_row.causal

    def flat(self) -> dict[str, Any]:
        """Every setting by its one name, the chosen rows' parameters among them."""
        return {row.name: self.value(row.name) for row in settings_of(self)}

    def value(self, name: str) -> Any:
        for place in (self, self.task_settings, self.encoding_settings):
            if name in type(place).model_fields:
                return getattr(place, name)
        raise KeyError(name)

    def replace(self, **changes: Any) -> RunConfig:
        """A config with some settings changed; parameters of a row no longer chosen are dropped.

        Raises ConfigError with one sentence for each setting that does not fit.
        """
        flat = changed(self.flat(), changes)
        known = {row.name for row in settings_for(flat.get("task"), flat.get("pos_encoding"))}
        return parse({name: value for name, value in flat.items() if name in known or name in changes})


@lru_cache(maxsize=1024)
def settings_for(task: str | None = None, pos_encoding: str | None = None) -> tuple[Setting, ...]:
    """Every setting that exists under a task and an encoding (or the default ones), in the table's order."""
    chosen = {"task": task, "pos_encoding": pos_encoding}
    choices = {name: {key: row.label for key, row in registry.items()} for name, (_, registry) in COMPOSED.items()}
    rows: list[Setting] = []
    for row in settings_in(RunConfig, choices):
        rows.append(row)
        if row.name in COMPOSED:
            registry_row = COMPOSED[row.name][1].get(chosen[row.name] or row.default)
            own = settings_in(registry_row.parameters) if registry_row else ()
            rows += [replace(setting, group=row.group) for setting in own]
    return tuple(rows)


def settings_of(config: RunConfig) -> tuple[Setting, ...]:
    return settings_for(config.task, config.pos_encoding)


def changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Flat values with some changed. Where that chooses another row, a parameter that both rows have and that stood at the
    old row's default takes the new row's (ten symbols are few for a text).
    """
    after = {**values, **changes}
    if COMPOSED.keys().isdisjoint(changes):
        return after
    old, new = (settings_for(given.get("task"), given.get("pos_encoding")) for given in (values, after))
    defaults = {row.name: row.default for row in old}
    for row in new:
        at_default = row.name in defaults and values.get(row.name) == defaults[row.name]
        if at_default and row.name not in changes:
            after[row.name] = row.default
    return after


def parse(flat: Mapping[str, Any]) -> RunConfig:
    """A config from flat names to values, which may be text. Raises ConfigError."""
    try:
        return RunConfig.model_validate(dict(flat))
    except ValidationError as error:
        raise ConfigError(
            list(problems_in(error, flat, settings_for(flat.get("task"), flat.get("pos_encoding"))))
        ) from None


def parse_leniently(flat: Mapping[str, Any]) -> tuple[RunConfig, list[Problem]]:
    """A config from what fits, and one problem for each setting that did not (it keeps its default)."""
    kept, ignored = dict(flat), list[Problem]()
    while True:
        try:
            return parse(kept), ignored
        except ConfigError as error:
            for problem in error.problems:
                culprit = problem if problem.setting in kept else _culprit(kept, problem)
                ignored.append(culprit)
                del kept[culprit.setting]


def _culprit(given: dict[str, Any], problem: Problem) -> Problem:
    """The given setting that a default does not go with: the last without which the config parses, else the first."""
    for name in reversed(given):
        try:
            parse({other: value for other, value in given.items() if other != name})
            break
        except ConfigError:
            continue
    return Problem(name, to_text(given[name]), f"one that goes with {problem.setting} {shown(problem.given)}")


def changes_between(before: RunConfig, after: RunConfig) -> Iterator[tuple[Setting, Any, Any]]:
    """The settings that differ, with both values: what a run is named by when it is laid over another."""
    old = before.flat()
    for row in settings_of(after):
        value = after.value(row.name)
        if row.name not in old or old[row.name] != value:
            yield row, old.get(row.name), value
