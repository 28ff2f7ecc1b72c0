from collections.abc import Callable
from threading import Event, Lock
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.analysis.depth.jobs import DepthNumbers, MeasureDepth, MeasureOversquashing, OversquashingNumbers
from engine.config.link import from_query
from engine.foundation.errors import JobError
from pages.parts import depth
from pages.parts.app.questions import SharedCache
from tests.pages.looking import Open, messages_of, page_text

key = depth.SETTINGS.widget_key


def numbers(job: MeasureDepth) -> DepthNumbers:
    """Made-up numbers, from which the seed and the depth can be read."""
    depths = np.array(job.depths)
    share = depths[:, None] / 100 + job.config.seed / 1000
    return {
        "depths": depths, "lengths": np.array([8, 64]), "roll_out": share.repeat(4, axis=1),
        "layer_weight": np.full((len(depths), 4), 0.25), "token_share": share[:, 0],
        "first_token": share.repeat(2, axis=1), "repeat": share.repeat(2, axis=1), "repeat_equal": share.repeat(2, axis=1),
        "gradient": {"pre": share[:, 0], "post": 2 * share[:, 0]},
    }  # fmt: skip


def oversquashing(job: MeasureOversquashing) -> OversquashingNumbers:
    share = np.array(job.depths)[:, None] / 1000
    at_four = share.repeat(4, axis=1)
    return {
        "lengths": np.array([8, 32, 128, 512]),
        "first_token": at_four,
        "repeat": at_four,
        "repeat_equal": at_four,
    }


class Engine:
    """Answers as the engine would, each when it is released, and records the questions."""

    def __init__(self) -> None:
        self.jobs: list[depth.DrawJob] = []
        self.fails = False
        self._lock, self._let_go = Lock(), Event()
        self._let_go.set()

    def ask(self, job: depth.DrawJob, **_: Any) -> DepthNumbers | OversquashingNumbers:
        with self._lock:
            self.jobs.append(job)
        assert self._let_go.wait(60)
        if self.fails:
            raise JobError("Measuring the effect of depth took longer than 90 s.")
        return numbers(job) if isinstance(job, MeasureDepth) else oversquashing(job)

    def hold(self) -> None:
        self._let_go.clear()

    def let_go(self) -> None:
        self._let_go.set()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr(depth, "ask", found.ask)
    monkeypatch.setattr(depth, "DRAWS", SharedCache(1024))
    depth.section.cache_clear()
    return found


def until(app: AppTest, there: Callable[[str], bool]) -> str:
    """Run the page again, as its timer does, until its figures say that."""
    for _ in range(500):
        if there(words := messages_of(app)):
            return words
        app.run()
    raise AssertionError(words)


def complete(app: AppTest) -> str:
    return until(app, lambda words: "range of 16 models" in words and "at 512" in words)


def test_figures_come_with_the_first_draw_and_tell_more_with_each(open_page: Open, engine: Engine) -> None:
    app = open_page("depth.py")
    assert "What does the last token read?" in messages_of(app)
    words = complete(app)
    assert "After 16 layers, the last position reads 17 %" in words
    assert "Layer 1: 0.168 with pre-LN and 0.335 with post-LN." in words
    assert "Another first token changes the last output by 1.6 % at length 8, 1.6 % at 512." in words
    assert [(type(job), job.config.seed) for job in engine.jobs] == [
        *((MeasureDepth, seed) for seed in range(16)),
        *((MeasureOversquashing, seed) for seed in range(4)),
    ]
    assert "(https://arxiv.org/abs/2406.04267)" in page_text(app)


def test_the_dial_asks_for_nothing_new_and_the_address_follows_it(open_page: Open, engine: Engine) -> None:
    app = open_page("depth.py", pos_encoding="alibi", skips="false", depth="4")
    assert "After 4 layers" in complete(app)
    n_jobs = len(engine.jobs)
    app.select_slider(key=key("depth")).set_value(32).run()
    assert "After 32 layers" in messages_of(app)
    assert len(engine.jobs) == n_jobs
    assert dict(app.query_params) == {"depth": "32", "pos_encoding": "alibi", "skips": "false"}


def test_a_dial_that_moves_on_leaves_at_most_one_question_behind_it(open_page: Open, engine: Engine) -> None:
    engine.hold()
    app = open_page("depth.py")
    assert "Measuring" in messages_of(app)
    app.selectbox(key=key("pos_encoding")).set_value("nope").run()
    app.button_group(key=key("norm")).set_value("post").run()
    engine.let_go()
    complete(app)
    jobs = [(job.config.pos_encoding, job.config.norm) for job in engine.jobs]
    assert jobs == [("rope", "pre")] + [("nope", "post")] * 20
    other = open_page("depth.py", pos_encoding="nope", norm="post")
    assert "range of 16 models" in messages_of(other), "what one session has asked for, all have"
    assert len(engine.jobs) == 21


def test_a_measurement_that_fails_is_said_once_and_other_settings_are_measured(open_page: Open, engine: Engine) -> None:
    engine.fails = True
    app = open_page("depth.py")
    while not app.error:
        app.run()
    assert app.error[0].value == "Measuring the effect of depth took longer than 90 s."
    assert len(engine.jobs) == 1
    engine.fails = False
    app.toggle(key=key("mlp")).set_value(False).run()
    complete(app)
    assert not app.error


def test_a_depth_that_is_no_number_is_named(open_page: Open, engine: Engine) -> None:
    words = page_text(open_page("depth.py", depth="many"))
    assert "`depth` is `many`; it must be a whole number from 1 to 48." in words


def test_a_wrong_link_is_named_and_the_way_into_the_lab_has_the_settings(open_page: Open, engine: Engine) -> None:
    app = open_page("depth.py", depth="5", pos_encoding="zork", norm="none")
    assert "it must be one of 1, 2, 4, 8, 16, 32, 48" in page_text(app)
    assert "`pos_encoding` is `zork`" in page_text(app)
    complete(app)
    (link,) = [box.proto for box in app.get("page_link") if box.proto.label == "Train it"]
    query = dict(part.split("=") for part in link.query_string.split("&"))
    config, problems = from_query(query)
    assert not problems
    assert (config.n_layers, config.pos_encoding, config.norm, config.mlp) == (16, "rope", "none", True)
