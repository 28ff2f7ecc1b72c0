"""The parts as widgets, those in sight that the present design has; and the ways on from them: the lab, a link, a class in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import streamlit as st

from engine.config.link import as_options
from engine.config.link import to_query as lab_query
from engine.encodings.designed import DesignedSettings
from engine.encodings.designed.code import written
from engine.experiments.comparison import design_config
from engine.settings.errors import ConfigError
from pages.parts.design.state import PARTS, SETTINGS, design, parts


def parts_form() -> None:
    for name in ("design_features", "design_readout", "design_place", "design_learned"):
        SETTINGS.widget(name, disabled=decided(name, design()))
    for name in numbers_of(design()):
        SETTINGS.widget(name)


def numbers_of(design: DesignedSettings) -> Iterator[str]:
    """The numbers that this design has."""
    features, readout, place = design.design_features, design.design_readout, design.design_place
    waves = features in ("sinusoids", "fourier")
    if readout != "direct" and features != "convolution":
        yield "design_width"
    if "network" in (features, readout):
        yield "design_hidden"
    if features == "sinusoids":
        yield "design_base"
    if features == "fourier":
        yield "design_length_scale"
    if features == "convolution":
        yield "design_reach"
    if not (waves and place == "rotation"):
        yield "design_init_std"


def decided(name: str, design: DesignedSettings) -> bool:
    """Whether the other parts leave one choice only."""
    if name == "design_place":
        return design.design_features == "convolution"
    return name == "design_readout" and design.design_place == "rotation"


def show_guide() -> None:
    st.header("Go on in Python", anchor=False)
    st.markdown(
        "The parts above come to this class. Put it into a checkout of the project and change what no part offers; it is then in the "
        "lab, in links, on the command line and in the tests, like every other encoding."
    )
    code = written(design())
    st.markdown("1. A folder of its own, `engine/encodings/my_encoding/`, with the torch module in `layer.py`:")
    st.code(code.layer, language="python", wrap_lines=True)
    st.markdown(
        "2. Beside it the facts that are known without running it, in `__init__.py`: where it acts, its parameters and its costs. They are "
        "those of the parts above; `has_memory_formula` says that nobody has a formula for its activation memory yet. If you change what "
        "`layer.py` computes, write its own shapes and FLOPs there, as the neighbours do:"
    )
    st.code(code.spec, language="python", wrap_lines=True)
    st.markdown('3. A line in the registry, `NAMES` of `engine/encodings/__init__.py`: `"my_encoding",`')
    st.markdown("4. See whether everything that holds for encodings holds for yours:")
    st.code(
        "pytest tests/engine -k my_encoding\npython -m engine train --pos-encoding my_encoding",
        language="bash",
        wrap_lines=True,
    )


def show_ways_on() -> None:
    """Links to the lab, the command line, and a link to share."""
    try:
        config = design_config(parts())
    except ConfigError:
        return
    own = {name: value for name, value in parts().items() if value != PARTS[name].default}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.page_link(
            "lab.py", label="Open in the lab", icon=":material/science:", query_params=lab_query(config),
            help="The design under the first task, with every setting in place.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/share:"):
            st.caption("This link opens the page with these parts. It starts nothing.")
            st.code(SETTINGS.share_link(SETTINGS.query()), language=None, wrap_lines=True)
            st.caption("The same design on the command line:")
            command = shlex.join(["python", "-m", "engine", "train", "--pos-encoding", "designed", *as_options(own)])
            st.code(command, language="bash", wrap_lines=True)
