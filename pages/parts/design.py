"""The design page: what is built there, from a link or by hand, its form, and the run against built-in encodings."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import streamlit as st
from pydantic import AfterValidator, field_validator

from engine.analysis.encodings.jobs import ComputePreview
from engine.config.link import as_options
from engine.config.link import to_query as lab_query
from engine.config.run_config import parse_leniently
from engine.encodings import ENCODINGS
from engine.encodings.designed import DesignedSettings
from engine.encodings.designed.code import layer_code, spec_code
from engine.estimate.layout import shapes
from engine.estimate.prediction import added_parameters
from engine.experiments.comparison import (
    BASE,
    DESIGN,
    MATCHED,
    MOST_RIVALS,
    RIVALS,
    TASKS,
    USUAL,
    Comparison,
    design_config,
)
from engine.experiments.evidence.store import find_comparison
from engine.experiments.experiment import Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.errors import JobError
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import Setting, settings_in
from pages.parts.app.in_markdown import in_markdown, say_unsaved, show_refusal
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed
from pages.parts.app.questions import ask_once
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.encoding import matrix_figure, similarity_figure, similarity_shown
from pages.parts.charts.spectra import offsets_figure
from pages.parts.experiments.board import show_arms, show_evidence, take_away
from pages.parts.experiments.run_buttons import forecast, run_or_stop, seeds_setting
from pages.parts.experiments.running import EXPERIMENTS, RunRequest
from pages.parts.experiments.shown import Shown

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
            request, _ = found
            values |= {**request.parts, "against": request.against, "tasks": request.tasks, "seeds": request.seeds}
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


# The form


GUIDE = Path(__file__).with_suffix(".md")
COMMANDS = "pytest tests/engine -k my_encoding\npython -m engine train --pos-encoding my_encoding"
HEIGHT = 300
KINDS = {"embedding": "table", "rotation": "angles", "scores": "bias"}
WHAT = {
    "embedding": ("What is added", "At each position, to each dimension of the embedding."),
    "scores": ("What is added to the scores", "By how far the key stands from the query, for each head."),
    "rotation": ("Angles", "By how much each pair of dimensions is turned, in radians."),
}


def parts_form() -> None:
    for name in ("design_features", "design_readout", "design_place", "design_learned"):
        SETTINGS.widget(name, disabled=decided(name, design()))
    with st.popover("Numbers", icon=":material/tune:"):
        for name in numbers_of(design()):
            SETTINGS.widget(name)


def numbers_of(design: DesignedSettings) -> list[str]:
    """The numbers that this design has."""
    features, readout, place = design.design_features, design.design_readout, design.design_place
    there = {
        "design_width": readout != "direct" and features != "convolution",
        "design_hidden": "network" in (features, readout),
        "design_base": features == "sinusoids",
        "design_length_scale": features == "fourier",
        "design_reach": features == "convolution",
        "design_init_std": not (features in ("sinusoids", "fourier") and place == "rotation"),
    }
    return [name for name, has in there.items() if has]


def decided(name: str, design: DesignedSettings) -> bool:
    """Whether the other parts leave one choice only."""
    if name == "design_place":
        return design.design_features == "convolution"
    return name == "design_readout" and design.design_place == "rotation"


def show_profile() -> None:
    try:
        config = design_config(parts())
        with st.spinner("A worker draws it"):
            look = ask_once(ComputePreview(config))
    except (ConfigError, JobError) as error:
        st.error(in_markdown(error), icon=":material/block:")
        return
    place = config.encoding.acts_on
    parameters, trained = added_parameters(config, config.pos_encoding), shapes(config).position_range
    learned = f"{parameters:,} numbers learned" if parameters else "nothing learned"
    st.markdown(f"**{design().in_words}** :gray[{learned} at width {config.d_model}, {trained} positions.]")
    panels(_panels(place, trained, **look), key="design.board", name="design", subject=place, least=300)


def _panels(place: str, trained: int, matrix: np.ndarray, similarity: np.ndarray) -> list[Panel]:
    length, neighbours = len(similarity), np.diagonal(similarity, -1).mean()
    where = "Dashed: the longest length trained" if length > trained else "A table ends at the trained length"
    title, note = WHAT[place]
    low, high = float(matrix.min()), float(matrix.max())
    places = dict.fromkeys(("matrix_at", "similarity_at"), np.arange(length))
    specific = {"matrix": matrix, "similarity": similarity, "trained": trained, "dot": None, "only_before": False}
    profile = {**specific, **places, "kind": KINDS[place]}
    first = offsets_figure(matrix, trained) if place == "scores" else matrix_figure(profile, length)
    unit = similarity_shown(profile, "cosine")[1]
    return [
        Panel(
            id="matrix.own", title=title, figure=first, height=HEIGHT, note=note,
            alt=f"{title}: {' by '.join(map(str, matrix.shape))} numbers from {low:.2g} to {high:.2g}.",
        ),
        Panel(
            id="similarity.own", title="How alike positions are", figure=similarity_figure(profile, "cosine", length, end=""),
            height=HEIGHT, note=f"{where}, {trained}.", link="cells",
            alt=f"{unit} of {length} by {length} positions: neighbours {neighbours:.2f} on average, the two ends {similarity[-1, 0]:.2f}.",
        ),
    ]  # fmt: skip


def show_ways_on() -> None:
    """Links to the lab, the command line, and a link to share."""
    try:
        config = design_config(parts())
    except ConfigError:
        return
    specific = {name: value for name, value in parts().items() if value != PARTS[name].default}
    st.space("small")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        help, query = "The design under the first task, with every setting in place.", lab_query(config)
        st.page_link("lab.py", label="Open in the lab", icon=":material/science:", query_params=query, help=help)
        with st.popover("Share", icon=":material/share:"):
            st.caption("This link opens the page with these parts. It starts nothing.")
            st.code(SETTINGS.share_link(SETTINGS.query()), language=None, wrap_lines=True)
            st.caption("The same design on the command line:")
            command = shlex.join(
                ["python", "-m", "engine", "train", "--pos-encoding", "designed", *as_options(specific)]
            )
            st.code(command, language="bash", wrap_lines=True)


def show_guide() -> None:
    """The steps from the design to an encoding of the project, paragraph by paragraph; a word in capitals stands for a piece of code."""
    layer, spec = layer_code(design()), spec_code(design())
    pieces = {"LAYER": (layer, "python"), "SPEC": (spec, "python"), "COMMANDS": (COMMANDS, "bash")}
    for paragraph in GUIDE.read_text("utf-8").strip().split("\n\n"):
        if paragraph in pieces:
            text, language = pieces[paragraph]
            st.code(text, language=language, wrap_lines=True)
        else:
            st.markdown(paragraph)


# Against the built-in ones


def shown_experiment() -> tuple[str, ExperimentRun | None]:
    """The name of the comparison that is looked at, and its run, if this server still holds it."""
    name = SETTINGS.values()[EXPERIMENT] or ""
    return name, EXPERIMENTS.find(name)


def run_form(name: str, run: ExperimentRun | None) -> None:
    """Run, and what it compares with behind a heading."""
    running, experiment, problem = run is not None and run.state == "running", None, ""
    try:
        experiment = asked_comparison().experiment
    except (ConfigError, ValueError) as error:
        problem = in_markdown(error)
    with st.container(horizontal=True, gap="small"):
        run_or_stop(name, run, _requested_run, ready=experiment is not None)
        with st.popover("Against", icon=":material/compare_arrows:"):
            _rivals(disabled=running)
    st.caption(forecast(experiment) if experiment is not None else f":material/block: {problem}")
    show_refusal()


def _rivals(*, disabled: bool) -> None:
    if SETTINGS.drawn("against"):
        st.multiselect(
            "Against", RIVALS, format_func=lambda name: ENCODINGS[name].label, max_selections=MOST_RIVALS,
            placeholder="Choose encodings", help="Built-in encodings, with their usual settings.",
            default=SETTINGS.first_value("against"), **SETTINGS.bound("against", disabled=disabled),
        )  # fmt: skip
    if SETTINGS.drawn("tasks"):
        st.pills(
            "Tasks", list(TASKS), selection_mode="multi", format_func=lambda name: TASKS[name].label,
            help="; ".join(f"{task.label}: {task.asks}" for task in TASKS.values()) + ".",
            default=SETTINGS.first_value("tasks"), **SETTINGS.bound("tasks", disabled=disabled),
        )  # fmt: skip
    SETTINGS.widget("seeds", disabled=disabled)
    st.caption(f"{MATCHED} The rule for “better” is fixed before the run, and each finding is computed by that rule.")


def show_result(name: str, run: ExperimentRun | None) -> None:
    """The comparison, once there is one; before it, what the encoding looks like."""
    found = find_comparison(name)
    source: ExperimentRun | Shown | None = run or (Shown.of(found[1], "kept") if found else None)
    if source is None:
        st.header("Before training", anchor=False)
        show_profile()
        return
    st.header("Against the built-in ones", anchor=False)
    _heading(source.experiment)
    shown = show_evidence(name, source)
    say_unsaved(run)
    if shown.state != "running":
        take_away(shown)
        with st.expander("Every arm, and the way into the lab with it", icon=":material/science:"):
            show_arms(shown.experiment, False, shown.seeds[0])
    with st.expander("Before training", icon=":material/visibility:"):
        show_profile()


def _heading(experiment: Experiment) -> None:
    """The design in words."""
    parts = experiment.config(experiment.arms[0]).encoding_settings
    assert isinstance(parts, DesignedSettings)
    changed = "" if parts == design() else " :orange[:material/edit: The parts have changed since.]"
    st.markdown(f"**In this run:** {parts.in_words}{changed}")


def _requested_run() -> RunRequest:
    comparison = asked_comparison()
    shown = SETTINGS.values()[EXPERIMENT] or ""
    return RunRequest(
        comparison.experiment, lambda name: SETTINGS.put({EXPERIMENT: name}), shown, comparison=comparison
    )
