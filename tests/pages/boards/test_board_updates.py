import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.attribution import attribute_answers
from engine.config.run_config import parse
from engine.runs.events import Ended, Progress, Snapshot, of_layer
from engine.runs.log import EventLog
from pages.parts.boards.live.board_updates import (
    MAX_SNAPSHOT_BYTES,
    PATH,
    cells_of,
    few_of,
    gradient_layers,
    grids_of,
    snapshot_json,
    status_of,
    updates_after,
)
from pages.parts.boards.live.columns import Column, columns_of, extreme_indices
from pages.parts.charts.heat import MAX_DRAWN_CELLS, coarsen, grid
from tests.scripted import ScriptedRun


def decoded(packed: Any) -> np.ndarray:
    levels = np.frombuffer(base64.b64decode(packed["values"]), np.uint8).reshape(packed["shape"])
    return np.asarray((levels.astype(float) - packed["zero"]) * packed["step"])


def thin(steps: list[int], values: list[float], points: int) -> Column:
    indices = extreme_indices(np.array(steps), np.array(values), points)
    return [steps[part] for part in indices], [values[part] for part in indices]


def test_figures_come_with_their_facts_and_only_once() -> None:
    run = ScriptedRun().advance(3)
    first, after = updates_after(run, 0)
    run.advance(200)
    second, after = updates_after(run, after)
    run.advance(200)
    last, _ = updates_after(run, after)
    assert set(first["figures"]) == {
        "loss", "accuracy", "gradients", "memory", "mosaic.self", "pattern.self", "matrix", "similarity",
    }  # fmt: skip
    assert second["figures"] == {}
    assert set(last["figures"]) == {"memory"}, "measured memory arrives with the end"


def test_every_line_of_the_figures_has_its_column_and_numbers_beyond_the_run_are_read_as_its_end() -> None:
    run = ScriptedRun().advance(50)
    payload, _ = updates_after(run, 0)
    for name in ("loss", "accuracy", "gradients"):
        wanted = {trace["meta"]["column"] for trace in payload["figures"][name]["data"]}
        assert wanted <= set(payload["columns"]), name

    run.state, run.events = "finished", EventLog(Progress(n, 1.0 / n, 1.0, 0.1, 100.0) for n in range(1, 20_001))
    steps = updates_after(run, 0)[0]["columns"]["loss"][0]
    assert len(steps) <= 500, "a long history is a short message"
    assert steps[-1] == 20_000
    payload, last = updates_after(run, 30_000)
    assert last == len(run.events)
    assert "columns" not in payload


def test_a_message_is_plain_json_without_nan() -> None:
    run = ScriptedRun().advance(2)
    run.events.append(Progress(3, float("nan"), float("inf"), 0.01, 1.0, validation={"loss": float("nan")}))
    payload, _ = updates_after(run, 0)
    text = json.dumps(payload, allow_nan=False)
    assert json.loads(text)["columns"]["loss"][0] == [1, 2]


def test_layer_totals_are_the_root_of_the_sum_of_squares() -> None:
    event = Progress(1, 1.0, 1.0, 0.1, 1.0, grad_norms={"0.q": 3.0, "0.v": 4.0, "e0.k": 2.0, "head": 7.0})
    columns = columns_of(EventLog([event]))
    assert columns["grad_norms.0.total"] == ([1], [5.0])
    assert columns["grad_norms.e0.total"] == ([1], [2.0])
    assert "grad_norms.head.total" not in columns


def test_status_tells_why_a_run_failed_and_the_machine_of_a_cluster() -> None:
    run = ScriptedRun().advance(5)
    run.fail("Step 6: decoder.1.mlp.out is no longer finite.", "norm=pre")
    status = status_of(run)
    assert (status["state"], status["step"]) == ("failed", 5)
    assert status["problem"] == "Step 6: decoder.1.mlp.out is no longer finite."
    lost = ScriptedRun(state="lost", events=EventLog([Ended(0, "lost", "Its worker was lost.")]))
    assert status_of(lost)["problem"] == "Its worker was lost."
    going = ScriptedRun(state="running", setback="It repeats the steps that were not saved.")
    assert (status_of(going)["problem"], status_of(run)["machine"]) == (going.setback, "")
    run.machine = "tls://10.0.0.7:40123"
    assert status_of(run)["machine"] == "10.0.0.7"


@pytest.mark.parametrize("count", [501, 1000, 7919])
def test_thinning_keeps_ends_and_extremes(count: int) -> None:
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    values[count // 3], values[count // 2] = 50.0, -50.0
    x, y = thin(list(range(count)), values.tolist(), 500)
    assert len(x) <= 500
    assert (x[0], x[-1], max(y), min(y)) == (0, count - 1, 50.0, -50.0)
    assert x == sorted(set(x)), "in order, each once"
    assert [values[part] for part in x] == y, "points of the line, not averages"


def test_thinning_again_and_again_is_thinning_once_and_short_lines_are_left_alone() -> None:
    """A line thinned as it grows must not forget its beginning little by little."""
    values = np.random.default_rng(3).normal(size=20_000)
    x, y = list[int](), list[float]()
    for step, value in enumerate(values.tolist()):
        x.append(step)
        y.append(value)
        if len(x) > 500:
            x, y = thin(x, y, 400)
    once = set(thin(list(range(len(values))), values.tolist(), 400)[0])
    recent = 20_000 - 500
    assert {step for step in once if step < recent} <= set(x)
    assert np.diff(x).max() <= 2 * 128, "each stretch of 128 steps is there"
    assert thin([1, 2, 3], [0.1, 0.2, 0.3], 500) == ([1, 2, 3], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("seed", range(20))
def test_a_byte_is_within_half_a_level_and_zero_has_its_own_on_every_scale_that_holds_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    below, above = 10 ** rng.uniform(-6, 6, size=2) * rng.choice([1, 1, 0], size=2)
    values = rng.uniform(-below, above, size=(9, 9)).astype(np.float32)
    values[rng.uniform(size=(9, 9)) < 0.3] = values[0, 0] = 0.0
    for packed in (grid(values), grid(values, -below, above), grid(values, -1.0, 1.0)):
        assert np.all(decoded(packed)[values == 0.0] == 0.0)
        on_scale = (values >= packed["low"]) & (values <= packed["high"])
        error = np.abs(decoded(packed) - values)[on_scale]
        assert error.max() <= packed["step"] / 2 * (1 + 1e-5)
    for scale in ((0.0, 1.0), (-1.0, 1.0), (None, None)):
        packed = grid(rng.uniform(size=(2, 3, 8, 8)), *scale)
        assert packed["shape"] == packed["whole"] == [2, 3, 8, 8]
        assert packed["step"] <= 1.01 * (packed["high"] - packed["low"]) / 255


def test_layers_with_encodings_of_their_own_come_each_and_take_no_more_room() -> None:
    payload, _ = updates_after(ScriptedRun(config=parse({"pos_encoding": "shaw", "n_layers": 4})).start(), 0)
    sent = payload["snapshots"][0]["encoding"]
    alike = ["similarity", "similarity.1", "similarity.2", "similarity.3"]
    assert [name for name in sent if name.startswith("similarity")] == alike
    assert sent["similarity.3"]["low"] == -1, "one scale for all"
    assert sent["matrix.3"]["high"] == pytest.approx(sent["matrix"]["high"] / 4)
    assert {"matrix", "similarity"} < set(payload["figures"]), "one figure for all layers"
    assert "matrix.1" not in payload["figures"]
    square = np.ones((300, 300))
    many = Snapshot(0, {}, {of_layer("matrix", n): square for n in range(10)}, [])
    assert (
        sum(np.prod(grid["shape"]) for grid in grids_of(many)["encoding"].values()) <= cells_of(many) <= MAX_DRAWN_CELLS
    )


def test_the_mean_bias_of_positions_is_not_cut_at_the_ends_of_a_cosine_and_a_constant_matrix_survives() -> None:
    alike = -np.arange(16.0).reshape(4, 4)
    sent = grids_of(Snapshot(0, {}, {"matrix": alike[None], "similarity": alike}, []))["encoding"]["similarity"]
    np.testing.assert_allclose(decoded(sent), alike, atol=sent["step"] / 2 + 1e-9)
    assert np.allclose(decoded(grid(np.full((3, 3), 2.5))), 2.5)


def test_large_pictures_are_shown_in_blocks_by_their_strongest_entry() -> None:
    values = np.zeros((1, 2, 300, 200))
    values[0, 1, 299, 199], values[0, 0, 17, 5] = 0.9, -0.8
    coarse, block = coarsen(values, 10_000)
    assert coarse.size <= 10_000
    assert (coarse.max(), coarse.min()) == (0.9, -0.8)
    assert coarse[0, 0, 17 // block[0], 5 // block[1]] == -0.8


def test_few_snapshots_are_first_latest_and_even_between() -> None:
    snapshots = [Snapshot(step, {"self": np.zeros((1, 1, 2, 2))}, {}, []) for step in range(1000)]
    steps = [snapshot.step for snapshot in few_of(snapshots)]
    assert (steps[0], steps[-1], len(steps)) == (0, 999, 60)
    assert set(np.diff(steps)) <= {16, 17}
    large = [Snapshot(step, {"self": np.zeros((10, 10, 100, 100))}, {}, []) for step in range(20)]
    steps = [snapshot.step for snapshot in few_of(large)]
    assert len(steps) * MAX_DRAWN_CELLS <= MAX_SNAPSHOT_BYTES
    assert (steps[0], steps[-1], few_of([])) == (0, 19, [])


def test_the_tokens_of_cross_attention_are_queries_of_the_answer_and_keys_of_the_source() -> None:
    payload, _ = updates_after(ScriptedRun(config=parse({"family": "encoder_decoder"})).start(), 0)
    meta = payload["figures"]["pattern.cross"]["data"][0]["meta"]
    sample = payload["snapshots"][0]["samples"][0]
    assert (meta["keys"], meta["queries"]) == (sample["source"], sample["tokens"])


def test_a_family_without_attention_still_shows_its_predictions_and_layers_have_names() -> None:
    run = ScriptedRun(config=parse({"family": "gru", "n_layers": 2, "share_layers": True})).advance(2)
    bare = [replace(e, patterns={}, encoding={}) if isinstance(e, Snapshot) else e for e in run.events]
    run.events = EventLog(bare)
    payload, _ = updates_after(run, 0)
    assert payload["snapshots"]
    assert all(snapshot["samples"] for snapshot in payload["snapshots"])
    assert gradient_layers(run) == ["0", "1"]
    both = parse({"family": "encoder_decoder", "n_layers": 2})
    assert gradient_layers(ScriptedRun(config=both)) == ["e0", "e1", "0", "1"]
    assert gradient_layers(ScriptedRun(config=parse({"n_layers": 3, "share_layers": True}))) == ["0"]


def test_the_residual_stream_is_sent_in_plain_numbers_and_the_mean_of_the_heads_where_they_are_sent_in_blocks() -> None:
    run = ScriptedRun(config=parse({"n_layers": 2, "n_heads": 4, "seq_len": 6}))
    run.advance(1)
    snapshot = run.events.of(Snapshot)[0]
    right = np.full((3, 11), np.nan)
    right[:, 5:] = 1 / 3
    sent = snapshot_json(replace(snapshot, residual={"norm": np.full((3, 11), 12.3456), "right": right}))
    assert sent["residual"] == {"norm": [[12.346] * 11] * 3, "right": [[None] * 5 + [0.33333] * 6] * 3}
    assert sent["means"] == {}
    assert snapshot_json(snapshot)["residual"] == {}

    assert set(snapshot_json(snapshot)["paths"]) == {None}
    assert snapshot_json(snapshot)["answer_layer"] is None

    large = np.random.default_rng(0).dirichlet(np.ones(200), (2, 4, 200))
    coarse = grids_of(replace(snapshot, patterns={"self": large}))
    assert coarse["patterns"]["self"]["block"] != [1, 1]
    [sample, *_] = snapshot.samples
    long = replace(sample, **{part: ["1"] * 200 for part in ("tokens", "targets", "predictions")})
    for length in (200, 150, 90):  # the patterns of a long sequence are cut behind
        cut = replace(snapshot, samples=[long], patterns={"self": large[..., :length, :length]})
        means = snapshot_json(cut)["means"]
        if length == 90:
            assert means == {}
        else:
            last = large[..., 104:length, 104:length].mean(1)
            np.testing.assert_allclose(decoded(means["self"]), last, atol=1 / 255, err_msg="the last 96 positions")


def test_each_answer_is_sent_with_its_path_and_a_snapshot_with_where_most_arise() -> None:
    run = ScriptedRun(config=parse({"n_layers": 2, "n_heads": 4, "seq_len": 6}))
    run.advance(1)
    snapshot = run.events.of(Snapshot)[0]
    right, heads = np.tile([[0.1], [0.2], [0.9]], (1, 11)), np.full((2, 4, 11), 0.1)
    heads[1, 2] = 5.0
    given: dict[str, Any] = {"residual": {"right": right}, "contributions": {"self": heads, "mlp": np.zeros((2, 11))}}
    sent = snapshot_json(replace(snapshot, **given))
    assert sent["answer_layer"] == "most answers in layer 2"
    paths = [path for path in sent["paths"] if path]
    assert [path is not None for path in sent["paths"]] == [mark is not None for mark in sent["samples"][0]["marks"]]
    for path in paths:
        assert (path["arrives"], path["layer"]) == (True, 1)
        assert (path["contributor"], path["readings"]) == ("", []), (
            "whether an answer needs a head is not known while it trains"
        )
        assert {piece["part"] for piece in path["words"]} <= {"", "layer.1"}
    linked = snapshot_json(replace(snapshot, **given), attribute_answers(replace(snapshot, **given)))
    paths = [path for path in linked["paths"] if path]
    for path in paths:
        assert (path["contributor"], path["readings"][0]["layer"], path["readings"][0]["head"]) == ("head", 1, 2)
        assert {"text": "Head 3", "part": "head.1.2"} in path["words"]
    assert len(json.dumps(paths)) < PATH * len(paths)
    assert cells_of(replace(snapshot, **given)) >= cells_of(snapshot) + 11 * PATH
