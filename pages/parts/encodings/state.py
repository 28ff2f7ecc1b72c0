"""The settings of the page Encodings: fixed ones, and the parameters of the two encodings. Also widgets and link."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, field_validator

from engine.config.run_config import RunConfig, parse, settings_for
from engine.encodings import ENCODINGS
from engine.encodings.designed import DesignedSettings
from engine.experiments.benchmark.criteria import NEEDS
from engine.experiments.comparison import DESIGN, MAX_RIVALS, RIVALS, TASKS, USUAL, design_config
from engine.experiments.evidence.store import find_comparison
from engine.settings.errors import Problem, no_setting, read_leniently, validate
from engine.settings.fields import Setting, setting, settings_in, to_text
from engine.tasks import PLAIN
from pages.parts.app.page_state import ModelSettings, PageState, all_known, not_allowed, one_of
from pages.parts.experiments.run_buttons import seeds_setting
from pages.parts.experiments.running import EXPERIMENTS

SIDES = ("a", "b")
MAX_TRAINED_LENGTH, MAX_POSITIONS = 512, 1024  # positions: in training; in a figure
BASE, BASES = "base", ("sinusoid_base", "rope_base")  # of the longest wavelength
NEEDED, TESTED = "needs", "tested"
AGAINST, ON_TASKS, EXPERIMENT = "against", "tasks", "experiment"
ORDER: dict[str, tuple[str, ...]] = {AGAINST: RIVALS, ON_TASKS: tuple(TASKS)}  # allowed names, in the order of a link
# of a design; those of one side are ``a.<name>``
PARTS: dict[str, Setting] = {row.name: row for row in settings_in(DesignedSettings)}
IN_LAB = "Following a training was removed. The lab shows an encoding during training."

_OF_RUN = {row.name: row for row in settings_for(PLAIN)}


def _of_run(name: str, **changes: Any) -> Any:
    row = _OF_RUN[name]
    usual = {"default": row.default, "label": row.label, "help": row.help, "ge": row.minimum, "le": row.maximum}
    return setting(**usual | changes)


class EncodingsState(PageState):
    # fmt: off
    a: Annotated[str, one_of(ENCODINGS)] = setting("sinusoidal", "Encoding A", "Encoding in the left column.")
    b: Annotated[str, one_of(ENCODINGS)] = setting("rope", "Encoding B", "Encoding in the right column.")
    d_model: int = _of_run("d_model", default=64, le=512)
    n_heads: int = _of_run("n_heads", default=4, le=16)
    seq_len: int = _of_run("seq_len", default=64, le=MAX_TRAINED_LENGTH, label="Trained length", help="Number of positions in training.")
    reach: int = setting(
        2, "Shown to (× trained)",
        f"How far to draw beyond the trained length; at most {MAX_POSITIONS:,} positions.", ge=1, le=4,
    )
    sight: Literal["back", "both"] = setting(
        "back", "Attention looks", "A causal model never looks forward.",
        labels={"back": "Back only (causal)", "both": "Both ways"},
    )
    likeness: Literal["cosine", "dot"] = setting(
        "cosine", "Similarity", "The cosine ignores the length of the vectors, the dot product does not.",
        labels={"cosine": "Cosine", "dot": "Dot product"},
    )
    token_init_std: float = _of_run("token_init_std", help="Standard deviation of the token embedding, for comparison.")
    seed: int = _of_run("seed", help="Seed of the first values of learned encodings.")
    base: float = setting(10_000.0, "Base", "b in both formulas. A larger b makes the slowest wave slower.", ge=2.0, le=1e7)
    needs: Annotated[tuple[str, ...], AfterValidator(lambda names: all_known(names, NEEDS))] = setting((), "You must", "")
    tested: Literal["1", "2", "4", "8"] = setting(
        "1", "Tested at",
        "Test length for the fixed-distance, look-up and character tasks. The first two start at 2×.",
        labels={"1": "The trained length", "2": "Twice that", "4": "4 times", "8": "8 times"},
    )
    against: Annotated[tuple[str, ...], AfterValidator(lambda names: _some_of(names, RIVALS, MAX_RIVALS))] = setting(
        USUAL, "Against", "Built-in encodings with their usual settings."
    )
    tasks: Annotated[tuple[str, ...], AfterValidator(lambda names: _some_of(names, ORDER[ON_TASKS], len(TASKS)))] = setting(
        ORDER[ON_TASKS], "Tasks", " ".join(f"{task.label}: {task.asks}." for task in TASKS.values())
    )
    seeds: int = seeds_setting()
    experiment: str | None = setting(None, "Run", "")  # the name of a comparison of a design, running or stored
    # fmt: on

    REMOVED = dict.fromkeys(("run", "step", "layer"), IN_LAB)

    @field_validator("experiment")
    @classmethod
    def _stored(cls, name: str | None) -> str | None:
        if name is not None and EXPERIMENTS.find(name) is None and find_comparison(name) is None:
            raise not_allowed("a comparison that this server runs or has")
        return name


def _some_of(names: tuple[str, ...], allowed: Sequence[str], most: int) -> tuple[str, ...]:
    if not (set(names) <= set(allowed) and 1 <= len(names) == len(set(names)) <= most):
        raise not_allowed(f"1 to {most} different ones of {', '.join(allowed)}")
    return names


_LABELS = {name: row.label for name, row in ENCODINGS.items()}
FIXED = {row.name: row for row in settings_in(EncodingsState, choices=dict.fromkeys(SIDES, _LABELS))}


def settings_now(values: Mapping[str, Any]) -> dict[str, Setting]:
    """The settings of these two encodings, by their names in the link; those of one side are ``a.<name>``."""
    # Two different encodings share one base; two of a kind are compared base against base.
    shares = values.get("a", FIXED["a"].default) != values.get("b", FIXED["b"].default)
    specific = {
        f"{side}.{row.name}": row
        for side in SIDES
        for row in settings_in(ENCODINGS[values.get(side, FIXED[side].default)].settings)
    }
    has_base = shares and any(row.name in BASES for row in specific.values())
    fixed = {name: row for name, row in FIXED.items() if name != BASE or has_base}
    return fixed | {
        name: replace(row, name=name) for name, row in specific.items() if not (shares and row.name in BASES)
    }


def config_of(values: Mapping[str, Any], side: str) -> RunConfig:
    """Raises ConfigError."""
    known = settings_now(values)
    now = {name: values.get(name, row.default) for name, row in known.items()}
    name = now[side]
    specific = {
        row.name: now.get(f"{side}.{row.name}", now.get(BASE, row.default))
        for row in settings_in(ENCODINGS[name].settings)
        if f"{side}.{row.name}" in now or row.name in BASES
    }
    shared = {name: now[name] for name in ("d_model", "n_heads", "seq_len", "token_init_std", "seed")}
    family = "decoder" if now["sight"] == "back" else "encoder"
    return parse({"task": PLAIN, "family": family, "pos_encoding": name, "batch_size": 8, **shared, **specific})


def designed_side(values: Mapping[str, Any]) -> str:
    """The first side with a design; empty without one."""
    return next((side for side in SIDES if values.get(side, FIXED[side].default) == DESIGN), "")


def design_of(values: Mapping[str, Any], side: str) -> dict[str, Any]:
    return {name: values.get(f"{side}.{name}", row.default) for name, row in PARTS.items()}


def fitting(parts: Mapping[str, Any]) -> dict[str, Any]:
    fixed = dict(parts)
    # A convolution acts on the embedding.
    if fixed["design_features"] == "convolution":
        fixed["design_place"] = "embedding"
    # In a rotation the features are the angles.
    if fixed["design_place"] == "rotation":
        fixed["design_readout"] = "direct"
    return fixed


class EncodingsSettings(ModelSettings[EncodingsState]):
    def rows(self) -> Mapping[str, Setting]:
        return settings_now(self.values())

    def requested(self) -> dict[str, Any]:
        values = self.values()
        return {name: values.get(name, row.default) for name, row in settings_now(values).items()}

    def take(self, name: str, value: Any) -> None:
        super().take(name, tuple(one for one in ORDER[name] if one in value) if name in ORDER else value)
        side, _, part = name.partition(".")
        if part in PARTS:
            now = design_of(self.values(), side)
            self.put({f"{side}.{part}": one for part, one in fitting(now).items() if one != now[part]})

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        specific = {name for name in query if name.startswith(tuple(f"{side}." for side in SIDES))}
        values, ignored = super().read({name: text for name, text in query.items() if name not in {*specific, "view"}})
        exist = settings_now(values)
        ignored += [
            no_setting(name, query[name], exist) for name in query if name in {*specific, BASE} and name not in exist
        ]
        for side in SIDES:
            given = {
                name[len(side) + 1 :]: query[name] for name in specific & exist.keys() if name.startswith(f"{side}.")
            }
            settings, problems = read_leniently(given, partial(_specific_settings, values[side]))
            values |= {f"{side}.{name}": getattr(settings, name) for name in given}
            ignored += [replace(problem, setting=f"{side}.{problem.setting}") for problem in problems]
        # A link with only a stored run opens with the settings of its comparison.
        if query.keys() <= {*SIDES, EXPERIMENT} and (stored := find_comparison(values[EXPERIMENT] or "")):
            comparison, side = stored[0], designed_side(values) or SIDES[0]
            values |= {side: DESIGN, AGAINST: comparison.against, ON_TASKS: comparison.tasks, "seeds": comparison.seeds}
            values |= {f"{side}.{name}": value for name, value in comparison.parts.items()}
        return values, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        values = self.requested()
        unseen = () if designed_side(values) else (EXPERIMENT,)
        changes = [name for name, row in self.rows().items() if values[name] != row.default and name not in unseen]
        return {name: to_text(values[name]) for name in changes}


def _specific_settings(encoding: str, given: Mapping[str, object]) -> Any:
    """Raises ConfigError, also for parts of a design that do not go together."""
    if encoding == DESIGN:
        return design_config(given).encoding_settings
    return validate(ENCODINGS[encoding].settings, given)


SETTINGS = EncodingsSettings("encodings", EncodingsState)


def value(name: str) -> Any:
    return SETTINGS.requested()[name]


def control(name: str, **more: Any) -> None:
    if name in SETTINGS.rows():
        SETTINGS.widget(name, side_by_side=True, **more)
