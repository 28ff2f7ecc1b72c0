from typing import Any

import pytest

from engine.analysis.encodings.profiles import profile
from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from pages.parts.charts.encoding import matrix_figure, profile_figure, similarity_figure
from pages.parts.encodings.compare import matrix_panel, profile_panel, similarity_panel

TRAINED, N_POSITIONS = 12, 24


def profile_of(name: str, seq_len: int = TRAINED, n_positions: int = N_POSITIONS) -> dict[str, Any]:
    settings = {"task": "own_position", "seq_len": seq_len, "d_model": 16, "n_heads": 4, "pos_encoding": name}
    return profile(parse(settings), n_positions)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("similarity_kind", ["cosine", "dot"])
def test_every_encoding_has_its_panels(name: str, similarity_kind: str) -> None:
    found, row = profile_of(name), ENCODINGS[name]
    matrix, alike = (
        matrix_panel("a", row.label, found, N_POSITIONS),
        similarity_panel("a", row.label, found, similarity_kind, N_POSITIONS),
    )
    for panel in (matrix, alike, profile_panel("a", row.label, found, row.color)):
        assert panel.alt
        plain = panel.figure.to_plotly_json()
        assert plain["layout"]["xaxis"]["title"]["text"]
        assert plain["layout"]["yaxis"]["title"]["text"]
        assert all("meta" in trace or trace.get("hoverinfo") == "skip" for trace in plain["data"])


def test_angles_have_a_scale_around_zero_where_some_are_negative() -> None:
    found = profile_of("rope")
    assert matrix_figure(found, TRAINED).data[0].zmin == 0
    assert matrix_figure({**found, "matrix": -found["matrix"]}, TRAINED).data[0].zmin == -abs(found["matrix"]).max()


def test_what_lies_beyond_the_trained_length_is_marked_and_a_missing_row_is_empty() -> None:
    found = profile_of("learned")
    figure = matrix_figure(found, N_POSITIONS)
    assert figure.layout.yaxis.range == (N_POSITIONS + 0.5, 0.5), "positions count from 1"
    assert figure.layout.shapes[0].y0 == TRAINED + 0.5
    assert len(figure.data[0].z) == TRAINED
    assert "The last 12 positions have no rows" in matrix_panel("a", "Learned", found, N_POSITIONS).note
    assert [shape.x0 for shape in profile_figure(profile_of("rope"), "#D64550").layout.shapes] == [
        1 - TRAINED,
        TRAINED - 1,
    ]


def test_heads_that_differ_have_a_line_each_and_one_line_has_its_band() -> None:
    assert [trace.name for trace in profile_figure(profile_of("alibi"), "#0F9D8A").data] == ["H1", "H2", "H3", "H4"]
    assert [trace.fill for trace in profile_figure(profile_of("learned"), "#D9822B").data] == [None, "tonexty", None]
    assert len(profile_figure(profile_of("rope"), "#D64550").data) == 1


def test_thinned_pictures_stand_at_their_positions() -> None:
    found = profile_of("sinusoidal", 512, 1024)
    trace = similarity_figure(found, "cosine", 1024).data[0]
    assert trace.dx == trace.dy == found["similarity_at"][1] > 1
    assert trace.x0 == 1
