"""Choosing a task in the lab: the select box in groups, and the list of all tasks with sample and sentence."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from engine.tasks import BY_GROUP, TASKS
from engine.tasks.base import GROUPS
from tests.pages.looking import Open


def opened(app: AppTest) -> AppTest:
    """The page with the list of all tasks open."""
    app.button(key="lab.tasks").click().run()
    assert not app.exception, app.exception
    return app


def test_tasks_stand_in_groups_and_the_list_that_is_opened_says_of_each_what_it_asks(open_page: Open) -> None:
    app = open_page("lab.py")
    assert not app.subheader
    opened(app)
    assert [heading.value for heading in app.subheader] == list(GROUPS.values())
    labels, sentences = [button.label for button in app.button], [caption.value for caption in app.caption]
    for task in TASKS.values():
        assert any(task.label in label and task.sample in label for label in labels)
        assert task.summary in sentences

    shown = app.selectbox(key="set.task").options
    in_groups = [task for tasks in BY_GROUP.values() for task in tasks]
    assert len(shown) == len(TASKS)
    assert all(line.startswith(task.label) for line, task in zip(shown, in_groups, strict=True))


def test_a_click_in_the_list_chooses_the_task_as_the_select_box_does(open_page: Open) -> None:
    chosen = opened(open_page("lab.py"))
    chosen.button(key="lab.tasks.lookup").click().run()
    selected = open_page("lab.py")
    selected.selectbox(key="set.task").select("lookup").run()
    assert dict(chosen.query_params) == dict(selected.query_params)
    assert [box.value for box in chosen.selectbox if box.label == "Task"] == ["lookup"]
    assert not chosen.subheader, "the list closes"


def test_a_link_that_hides_or_locks_the_task_does_so_with_the_list(open_page: Open) -> None:
    hidden = open_page("lab.py", hide="task")
    assert not [button for button in hidden.button if button.label == "All tasks"]
    assert open_page("lab.py", lock="task").button(key="lab.tasks").disabled
