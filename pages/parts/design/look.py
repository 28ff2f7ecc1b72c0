"""The preview of the design before training: its numbers, its similarities, and their fall with distance."""

from __future__ import annotations

import streamlit as st

from engine.analysis.encoding_jobs import ComputePreview, Preview
from engine.encodings.designed.words import in_words
from engine.experiments.comparison import design_config
from engine.foundation.errors import JobError
from engine.settings.errors import ConfigError
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.encoding import distance_figure, offsets_figure, similarity_picture, table_picture
from pages.parts.design.state import design, parts

HEIGHT = 300
WHAT = {
    "embedding": ("What is added", "At each position, to each dimension of the embedding."),
    "scores": ("What is added to the scores", "By how far the key stands from the query, for each head."),
    "rotation": ("Angles", "By how much each pair of dimensions is turned, in radians."),
}


def show_look() -> None:
    try:
        config = design_config(parts())
        with st.spinner("A worker draws it"):
            look = ask_once(ComputePreview(config))
    except (ConfigError, JobError) as error:
        st.error(in_markdown(error), icon=":material/block:")
        return
    place = config.encoding.acts_on
    learned = f"{look['parameters']:,} numbers learned" if look["parameters"] else "nothing learned"
    st.markdown(f"**{in_words(design())}** :gray[{learned} at width {config.d_model}, {look['trained']} positions.]")
    panels(_panels(place, look), key="design.board", name="design", subject=place, least=300)


def _panels(place: str, look: Preview) -> list[Panel]:
    matrix, similarity, distance = look["matrix"], look["similarity"], look["distance"]
    trained, length = int(look["trained"]), int(look["length"])
    beyond = (
        f"Dashed: the longest length trained, {trained}."
        if length > trained
        else f"A table ends at the trained length, {trained}."
    )
    title, note = WHAT[place]
    low, high = float(matrix.min()), float(matrix.max())
    first = offsets_figure(matrix, trained) if place == "scores" else table_picture(matrix, trained, place)
    unit = "mean bias over heads" if place == "scores" else "similarity"
    return [
        Panel(
            id="matrix.own", title=title, figure=first, height=HEIGHT, note=note,
            alt=f"{title}: {' by '.join(map(str, matrix.shape))} numbers from {low:.2g} to {high:.2g}.",
        ),
        Panel(
            id="similarity.own", title="How alike positions are", figure=similarity_picture(similarity, trained, unit),
            height=HEIGHT, note=beyond, link="cells",
            alt=f"{unit} of {length} by {length} positions: neighbours {distance[1]:.2f} on average, the two ends {distance[-1]:.2f}.",
        ),
        Panel(
            id="distance.own", title="Likeness over distance", figure=distance_figure(distance, trained, unit), height=200, wide=True,
            note="The mean over all pairs so far apart.",
            alt=f"{unit} by distance: {distance[0]:.2f} at 0, {distance[1]:.2f} at 1, {distance[trained // 2]:.2f} at {trained // 2}.",
        ),
    ]  # fmt: skip
