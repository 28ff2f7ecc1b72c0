"""What is set on the design page: parts, rivals, tasks, seeds, and the shown run. They outlive the page, and they are its link."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, field_validator

from engine.config.run_config import parse_leniently
from engine.encodings.designed import DesignedSettings
from engine.experiments.comparison import BASE, DESIGN, MOST_RIVALS, RIVALS, TASKS, USUAL, Comparison
from engine.experiments.evidence.store import find_comparison
from engine.settings.errors import Problem
from engine.settings.fields import Setting, settings_in
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed
from pages.parts.stage.experiments import EXPERIMENTS
from pages.parts.stage.run_buttons import seeds_setting

EXPERIMENT = "experiment"
PARTS: dict[str, Setting] = {row.name: row for row in settings_in(DesignedSettings)}
ORDER: dict[str, tuple[str, ...]] = {"against": RIVALS, "tasks": tuple(TASKS)}
"""The names that may be chosen, in the order in which they stand in a link."""


class DesignState(PageState, DesignedSettings):
    against: Annotated[tuple[str, ...], AfterValidator(lambda names: _some_of(names, RIVALS, MOST_RIVALS))] = USUAL
    tasks: Annotated[tuple[str, ...], AfterValidator(lambda names: _some_of(names, ORDER["tasks"], len(TASKS)))] = (
        tuple(TASKS)
    )
    seeds: int = seeds_setting()
    experiment: str | None = None
    """The name of the shown run, running or stored (see :class:`Comparison`)."""

    @field_validator("experiment")
    @classmethod
    def _stored(cls, name: str | None) -> str | None:
        if name is not None and EXPERIMENTS.find(name) is None and find_comparison(name) is None:
            raise not_allowed("a comparison that runs here or is kept on this machine")
        return name


def _some_of(names: tuple[str, ...], allowed: Sequence[str], most: int) -> tuple[str, ...]:
    if not (set(names) <= set(allowed) and 1 <= len(names) == len(set(names)) <= most):
        raise not_allowed(f"1 to {most} different ones of {', '.join(allowed)}")
    return names


class DesignSettings(ModelSettings[DesignState]):
    """Some parts leave others one choice only, which comes with them."""

    def controls(self) -> Collection[str]:
        return DesignState.model_fields.keys() - {EXPERIMENT}

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        """Parts are read as in a config, which knows which go together. A link that names a stored run and nothing else opens
        with what was compared.
        """
        config, ignored = parse_leniently(
            {**BASE, "pos_encoding": DESIGN, **{name: text for name, text in query.items() if name in PARTS}}
        )
        values, more = super().read({name: text for name, text in query.items() if name not in PARTS})
        values |= {name: config.value(name) for name in PARTS}
        if query.keys() == {EXPERIMENT} and values[EXPERIMENT] and (found := find_comparison(values[EXPERIMENT])):
            asked, _ = found
            values |= {**asked.parts, "against": asked.against, "tasks": asked.tasks, "seeds": asked.seeds}
        return values, ignored + more

    def take(self, name: str, value: Any) -> None:
        super().take(name, tuple(one for one in ORDER[name] if one in value) if name in ORDER else value)
        values = self.values()
        self.put({part: now for part, now in fitting(values).items() if now != values[part]})


SETTINGS = DesignSettings("design", DesignState)


def fitting(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parts that go together: a convolution acts on the embedding; in a rotation the features are the angles."""
    fixed = dict(parts)
    if fixed["design_features"] == "convolution":
        fixed["design_place"] = "embedding"
    if fixed["design_place"] == "rotation":
        fixed["design_readout"] = "direct"
    return fixed


def parts() -> dict[str, Any]:
    values = SETTINGS.values()
    return {name: values[name] for name in PARTS}


def design() -> DesignedSettings:
    return DesignedSettings(**parts())


def asked_comparison() -> Comparison:
    """The comparison that Run starts."""
    values = SETTINGS.values()
    return Comparison(parts(), values["against"], values["tasks"], values["seeds"])
