"""Actions of page tests on an app: open a page, press a button, read its words."""

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from engine.config.run_config import RunConfig
from engine.experiments.question import ANSWERS
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.request import RunRequest
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.experiments.handouts import Note, student_report_of

Open = Callable[..., AppTest]  # the fixture open_page: a page by its file name, with the query of a link
# kinds of elements that say something
WORDS = ("title", "header", "markdown", "latex", "caption", "success", "info", "warning", "error")


def press(app: AppTest, label: str) -> AppTest:
    """Press the first button whose label begins so."""
    return next(button for button in app.button if button.label.startswith(label)).click().run()


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def disabled(app: AppTest, label: str) -> bool:
    return next(button for button in app.button if button.label == label).disabled


def question(app: AppTest) -> ButtonGroup[Any]:
    return next(box for box in app.button_group if box.label.startswith("Your guess"))


def guess(app: AppTest, words: str) -> AppTest:
    box = question(app)
    return box.set_value(ANSWERS[box.options.index(words)]).run()


def page_text(app: AppTest) -> str:
    return " ".join(str(box.value) for kind in WORDS for box in app.get(kind))


def messages_of(app: AppTest) -> str:
    """The page's messages to its scripts."""
    return " ".join(str(box.proto) for box in app.get("bidi_component"))


def notes_of(app: AppTest) -> dict[str, Note]:
    """The visitor's report so far."""
    return student_report_of(app.session_state["visitor"]).notes


def store_ended_run(config: RunConfig, visitor: Visitor = PROGRAM) -> Run:
    server.wake()
    run = server.pool().submit(RunRequest(config, visitor))
    assert run.wait_for(10**9, 600)
    return run


def run_of(app: AppTest) -> Run:
    """The run that the page shows: it is in its address."""
    return server.find(app.query_params["run"])


def trained(app: AppTest, button: str = "Train") -> AppTest:
    """Press Train, or another button that trains, wait for the end, and show it."""
    assert run_of(press(app, button)).wait_for(10**9, 600)
    return app.run()
