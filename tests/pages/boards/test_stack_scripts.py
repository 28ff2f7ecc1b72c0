"""The geometry of the model's picture, the roll-out and its words: functions without a document, called by node."""

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from engine.analysis.measurements.pointing import flow_through
from pages.parts.boards.component import EXPORT, IMPORT, in_order
from pages.parts.boards.live.board import LIVE
from pages.parts.charts.heat import grid

NODE = shutil.which("node")
STACK = LIVE.folder / "script" / "stack"
pytestmark = pytest.mark.skipif(NODE is None, reason="NO TESTS OF SCRIPTS: there is no node")


def called(modules: str, expression: str, **given: Any) -> Any:
    """The value of an expression, whose names are those of the modules and of ``given``."""
    files = dict.fromkeys(file for name in modules.split() for file in in_order(STACK / f"{name}.js"))
    texts = [EXPORT.sub("", IMPORT.sub("", file.read_text("utf-8"))) for file in files]
    names = [f"const {name} = {json.dumps(value)}" for name, value in given.items()]
    script = "\n".join([*texts, *names, f"console.log(JSON.stringify({expression}))"])
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-"], input=script, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def layout(**wanted: Any) -> dict[str, Any]:
    usual = {
        "width": 1120,
        "layers": 4,
        "heads": 4,
        "kinds": 1,
        "positions": 23,
        "sources": 0,
        "controls": True,
        "longest": 1,
    }
    found: dict[str, Any] = called("layout", "layoutOf(wanted)", wanted=usual | wanted)
    return found


@pytest.mark.parametrize("width", [358, 560, 1120, 1700])
@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize(
    ("heads", "kinds", "positions", "sources"),
    [(8, 1, 47, 0), (8, 3, 24, 24), (1, 1, 7, 0), (64, 1, 23, 0), (0, 0, 96, 0)],
)
def test_all_positions_and_heads_of_a_layer_fit_beside_one_another(
    width: int, controls: bool, heads: int, kinds: int, positions: int, sources: int
) -> None:
    found = layout(
        width=width, layers=8, heads=heads, kinds=kinds, positions=positions, sources=sources, controls=controls
    )
    beside = found["left"] + found["middle"] + (found["tiles"] if found["wide"] else 0)
    assert beside <= width or heads == 64
    assert found["pitch"] > 0
    if positions + sources < 50 and heads < 64:
        assert found["pitch"] >= 6, "a symbol can be read"


def test_the_height_grows_little_with_the_layers() -> None:
    heights = {layers: layout(layers=layers)["height"] for layers in (1, 4, 8, 12, 48)}
    assert heights[4] <= 200
    assert heights[8] <= 240
    assert heights[1] < heights[4] < heights[8] < heights[48] < 540


@pytest.mark.parametrize("sources", [0, 6])
def test_the_column_of_a_position_is_found_at_its_middle(sources: int) -> None:
    expression = """(() => {
      const drawn = layoutOf(wanted)
      return places.map(([kind, place]) => columnAt(drawn, xOf(drawn, kind, place)))
    })()"""
    places = [["reads", 0], ["reads", 5], *([["source", 0], ["source", 5]] if sources else [])]
    wanted = {
        "width": 900,
        "layers": 2,
        "heads": 2,
        "kinds": 1,
        "positions": 6,
        "sources": sources,
        "controls": True,
        "longest": 1,
    }
    assert called("layout", expression, wanted=wanted, places=places) == [
        {"kind": kind, "place": place} for kind, place in places
    ]


def patterns(layers: int, heads: int, queries: int, keys: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(keys), (layers, heads, queries))


def test_the_roll_out_is_that_of_the_engine() -> None:
    import torch

    found = patterns(3, 2, 5, 5)
    expression = """(() => {
      const self = weightsOf({ patterns: { self: given } }, "self", [0, 1, 2])
      const { arcs, streams } = flowTo({ layers: 3, self, skips: () => true }, { kind: "self", place: 4 })
      const reached = Array(5).fill(0)
      for (const { layer, key, share } of arcs) if (layer === 0) reached[key] += share
      for (const { layer, place, share } of streams) if (layer === 0) reached[place] += share
      return reached
    })()"""
    reached = called("flow weights", expression, given=grid(found, 0.0, 1.0))
    exact = flow_through(torch.tensor(found.mean(1)).float()[:, None])[-1, 0, 4].numpy()
    np.testing.assert_allclose(reached, exact, atol=0.02)


def test_without_a_skip_connection_all_that_a_position_has_comes_by_attention() -> None:
    expression = """(() => {
      const one = new Float32Array([1, 0, 0, 0.25, 0.75, 0, 0, 1, 0])
      const self = { queries: 3, keys: 3, layers: [one, null, one] }
      const from = { kind: "self", place: 2 }
      return [true, false].map((whole) => flowTo({ layers: 3, self, skips: (_, layer) => whole || layer !== 2 }, from))
    })()"""
    whole, cut = called("flow", expression)
    shares = {(arc["layer"], arc["query"], arc["key"]): arc["share"] for arc in whole["arcs"]}
    assert shares[2, 2, 1] == 0.5
    assert shares[0, 2, 1] == 0.25, "half of what stayed"
    assert shares[0, 1, 0] == pytest.approx(0.5 * 0.5 * 0.25)
    assert not any(arc["layer"] == 1 for arc in whole["arcs"]), "a layer that is gone passes everything on"
    shares = {(arc["layer"], arc["query"], arc["key"]): arc["share"] for arc in cut["arcs"]}
    assert shares[2, 2, 1] == 1.0
    assert all(stretch["place"] != 2 for stretch in cut["streams"])


def test_cross_attention_leads_to_the_encoder() -> None:
    expression = """(() => {
      const eye = new Float32Array([1, 0, 0, 1])
      const swap = new Float32Array([0, 1, 1, 0])
      const of = (matrix) => ({ queries: 2, keys: 2, layers: [matrix] })
      return flowTo({ layers: 1, self: of(eye), cross: of(swap), encoder: of(eye), skips: () => true }, { kind: "self", place: 0 }).arcs
    })()"""
    arcs = {(arc["kind"], arc["query"], arc["key"]): arc["share"] for arc in called("flow", expression)}
    assert arcs == {("cross", 0, 1): 0.5, ("self", 0, 0): 0.25, ("encoder", 1, 1): 0.25}


def test_convolutions_reach_twice_as_far_in_each_layer() -> None:
    arcs = called("flow", "reachOf(3, 3, 20, () => false).arcs")
    assert {arc["query"] - arc["key"] for arc in arcs if arc["layer"] == 2} == {0, 4, 8}
    assert min(arc["key"] for arc in arcs) == 20 - 2 * (1 + 2 + 4)


def test_a_layer_that_is_gone_leaves_the_stream_as_it_is() -> None:
    assert called("weights", "placesOf(4, (layer) => layer === 1)") == [0, None, 1, 2]
    assert called("weights", 'statesOf(["a", "b", "c", "d"], [0, null, 1, 2])') == ["a", "b", "b", "c", "d"]


def test_lines_of_one_thickness_are_one_path_and_those_past_a_cut_skip_are_apart() -> None:
    expression = """(() => {
      const drawn = { height: 100, left: 0, pitch: 10, row: 20, strip: 0, top: 20, layers: 3, sources: 0 }
      const norms = Array(4).fill([1, 2, 6])
      return streamLines(drawn, [{ kind: "reads", count: 3, norms, cut: (layer) => layer === 1 }])
    })()"""
    lines = called("curves", expression)
    assert len(lines["whole"]) == 6
    assert lines["cut"].count("M") == 3, "the stretch past the second layer, at each position"
    assert lines["above"].count("M") == 6, "what is above, and the way to the output"
    widths = [line["width"] for line in lines["whole"] if line["d"]]
    assert widths == sorted(widths)
    assert len(widths) == 3


def test_an_arc_is_found_where_it_passes() -> None:
    expression = """(() => {
      const drawn = { height: 100, left: 0, pitch: 10, row: 60, strip: 0, top: 20, layers: 1, sources: 0 }
      const arcs = [{ kind: "self", layer: 0, query: 8, key: 1, share: 0.5, weight: 0.9 }]
      return [[85, 22], [50, 50], [15, 78], [15, 22]].map(([x, y]) => Boolean(arcAt(arcs, drawn, x, y)))
    })()"""
    assert called("curves", expression) == [True, True, True, False]


def test_positions_are_told_in_words_or_from_one() -> None:
    places = called("words", '[0, 2, 4].map((place) => placeInWords(place, 5, "position"))')
    assert places == ["the first position", "position 3", "the last position"]
    expression = """(() => {
      const weights = { queries: 3, keys: 3, layers: [new Float32Array([1, 0, 0, 0, 1, 0, 0.985, 0.015, 0])] }
      return readingOf({ place: 2 }, weights, 0, ["2", "7", "1"], { own: 3, same: true, from: " (head 1)" })
    })()"""
    sentence = "The last position reads the first symbol, a “2”: 99 % (head 1)."
    assert called("words", expression) == {"sentence": sentence, "key": 0}


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (lambda query: max(0, query - 1), "the one one place before it"),
        (lambda query: 5 - query, "mirror image: the two numbers add up to 7"),
        (lambda query: 0, "the first position"),
    ],
)
def test_a_head_is_told_in_words(point: Any, said: str) -> None:
    weights = np.zeros((1, 1, 6, 6))
    for query in range(6):
        weights[0, 0, query, point(query)] = 1
    assert said in called("words", "headInWords(given, 0)", given=grid(weights, 0.0, 1.0))


def test_answers_are_compared_at_the_places_that_are_asked() -> None:
    before = {"predictions": ["1", "2", "3", "4"], "marks": [None, True, False, True]}
    after = {"predictions": ["9", "3", "2", "4"], "marks": [None, True, False, True]}
    assert called("words", "changedAnswers(before, after)", before=before, after=after) == "2 of 3 answers changed"
    assert (
        called("words", "changedAnswers(before, after, [1, 2])", before=before, after=after)
        == "no answer at the other places changed"
    )


@pytest.mark.parametrize(
    ("part", "place"),
    [([10, 10], [10, 35]), ([10, 175], [10, 70]), ([600, 80], [395, 80]), ([100, 80], [125, 80])],
)
def test_a_box_covers_neither_its_part_nor_anything_outside(part: list[int], place: list[int]) -> None:
    expression = "besidePart({ left: part[0], top: part[1], width: 20, height: 20 }, box, outer)"
    box, outer = {"width": 200, "height": 100}, {"width": 640, "height": 200}
    assert called("popover", expression, part=part, box=box, outer=outer) == place


def test_an_arrow_leads_to_the_nearest_in_its_direction() -> None:
    middles = [{"x": x, "y": y} for y in (0, 20) for x in (0, 10, 30)]
    directions = {"right": [1, 0], "down": [0, 1], "left": [-1, 0], "up": [0, -1]}
    found = {
        name: called("roving", f"towardsArrow(middles, 1, {way})", middles=middles) for name, way in directions.items()
    }
    assert found == {"right": 2, "down": 4, "left": 0, "up": 1}


def test_a_model_with_parts_away_is_seen_where_they_were() -> None:
    model = {
        "family": "decoder",
        "layers": 2,
        "heads": 1,
        "kinds": ["self"],
        "stacks": [{"kind": "self", "prefix": ""}],
        "skips": True,
    }
    snapshot = {
        "patterns": {"self": grid(patterns(1, 1, 3, 3), 0.0, 1.0)},
        "residual": {"norm": [[1, 1, 1], [2, 2, 2]]},
    }
    expression = """(() => {
      const seen = seenIn(model, snapshot, { without, only: null })
      const norms = seen.norms("self").map((row) => row?.[0] ?? null)
      return [seen.known, seen.places("self"), norms, seen.skips("self", 0), seen.cut("layer", 0)]
    })()"""
    given = {"model": model, "snapshot": snapshot}
    assert called("seen", expression, without=["layer.0"], **given) == [True, [None, 0], [1, 1, 2], True, True]
    assert called("seen", expression, without=[], **given)[0] is False, "the snapshot of another model is not drawn"
