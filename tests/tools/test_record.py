import json
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from engine.analysis.attention.attribution import attribute_answers
from engine.analysis.attention.changes import each_head_off
from engine.analysis.attention.heads import heads
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from engine.config.presets import PRESETS
from engine.config.run_config import parse
from engine.runs.events import Snapshot
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from tools.record import COUNTING_FILE, EVERY, FOLDER, RECORDED_RUNS, WORDS, at_even_steps, record


@pytest.fixture(scope="module", params=["made here", "shipped"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    if request.param == "shipped":
        return Run.from_disk(RunFolder(FOLDER))
    folder = tmp_path_factory.mktemp("recorded") / "run"
    config = parse({"seq_len": 3, "d_model": 8, "n_heads": 2, "n_layers": 2, "steps": 12, "device": "cpu"})
    record(config, partial(at_even_steps, every=4), folder)
    return Run.from_disk(RunFolder(folder))


def test_snapshots_are_evenly_spaced_and_the_weights_give_the_patterns_of_the_last(run: Run) -> None:
    steps = [event.step for event in run.events.of(Snapshot)]
    assert (steps[0], steps[-1]) == (0, run.config.steps)
    assert len({after - before for before, after in pairwise(steps)}) == 1

    there = heads(ModelRequest(run.config, str(run.weights)), SampleRequest())["patterns"]["self"]
    np.testing.assert_allclose(there, run.events.of(Snapshot)[-1].patterns["self"], atol=1e-4)


def test_the_run_of_two_layers_has_a_path_whose_heads_are_needed_and_the_answers_move_up_to_it() -> None:
    run = Run.from_disk(RunFolder(FOLDER.parent / "hops"))
    snapshots = run.events.of(Snapshot)
    paths, answer_layer = attribute_answers(snapshots[-1])
    assert answer_layer is not None
    assert (answer_layer.layer, answer_layer.name) == (1, "induction")
    assert attribute_answers(snapshots[0])[1] is None
    last = [path for path in paths if path][-1]
    assert last.induction
    off = each_head_off(ModelRequest(run.config, str(run.weights)))
    costs = {row["part"]: off["whole"]["accuracy"] - row["accuracy"] for row in off["rows"]}
    assert all(costs[reading.part] > 0.1 for reading in last.readings), costs


def test_what_is_shipped_is_what_the_command_makes_and_small() -> None:
    for name, config in RECORDED_RUNS.items():
        folder = RunFolder(FOLDER.parent / name)
        shipped = Run.from_disk(folder)
        assert shipped.config == config
        assert [event.step for event in shipped.events.of(Snapshot)] == list(range(0, config.steps + 1, EVERY))
        assert folder.size() < 800_000
        assert len(list(folder.path.iterdir())) == 4, "the arrays of all snapshots are one file"

    words, counted = Run.from_disk(RunFolder(WORDS)), json.loads((WORDS / COUNTING_FILE).read_text("utf-8"))
    config = PRESETS["next-word"].config
    assert (words.config, words.state, words.step) == (config, "finished", config.steps)
    assert set(counted["levels"]) == {"unigram", "bigram", "trigram"}
    assert words.weights is not None, "it can write"
    assert RunFolder(WORDS).size() < 800_000
