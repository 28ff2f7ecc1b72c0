import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from engine.config.link import from_query, to_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, settings_of
from engine.foundation.provenance import provenance
from engine.tasks import BY_GROUP, TASKS
from engine.tasks.base import GROUPS
from pages.parts.app import server
from pages.parts.lab.results import settings_json
from tests.pages.looking import Open, disabled, notes_of, page_text, press, run_of, store_ended_run, trained


def linked(app: AppTest) -> dict[str, str]:
    """The query of the link that states every setting."""
    return dict(parse_qsl(urlsplit(app.code[1].value).query))


def test_every_setting_has_its_widget_and_a_choice_brings_its_own(open_page: Open) -> None:
    app = open_page("lab.py", unfolded=True)
    for row in settings_of(RunConfig()):
        assert app.get_by_key(f"set.{row.name}").label == row.label
    app.selectbox(key="set.pos_encoding").select("rope").run()
    assert app.number_input(key="set.rope_base").value == 10_000
    assert linked(app)["pos_encoding"] == "rope"
    app.selectbox(key="set.task").select("shakespeare_chars").run()
    assert "Use this text" in [button.label for button in app.button]
    assert [box.value for box in app.number_input if box.label == "Characters"] == [80]
    assert linked(app)["vocab_size"] == "80"


def test_a_block_of_another_year_is_one_click_which_says_before_what_it_changes(open_page: Open) -> None:
    app = open_page("lab.py", unfolded=True, n_heads="4", seq_len="9", learning_rate="0.003")
    before = from_query(linked(app))[0]
    assert disabled(app, "GPT-2"), "the lab begins with it"
    assert "Changes: Normalisation Post-LN, Activation ReLU, Positional encoding Sinusoidal." in page_text(app)
    press(app, "Today")
    today = from_query(linked(app))[0]
    assert today == before.replace(norm_kind="rms", activation="swiglu", pos_encoding="rope", qk_norm=True, kv_heads=2)
    assert disabled(app, "Today")
    press(app, "GPT-2")
    assert from_query(linked(app))[0] == before


def test_a_block_that_would_change_what_a_link_locks_is_not_offered(open_page: Open) -> None:
    app = open_page("lab.py", unfolded=True, n_heads="4", lock="pos_encoding")
    assert {button.label for button in app.button} & {"2017", "GPT-2", "Today"} == {"GPT-2"}


def test_a_link_restores_every_setting(open_page: Open) -> None:
    config = PRESETS["three-back"].config.replace(dropout=0.25, grad_clip=None, d_head=6, batch_size=7)
    app = open_page("lab.py", unfolded=True, **to_query(config))
    assert from_query(linked(app)) == (config, [])
    assert app.number_input(key="set.dropout").value == 0.25
    assert app.number_input(key="set.d_head").value == 6


def test_a_link_of_only_a_run_opens_with_its_settings_and_says_what_changed_even_to_a_default(open_page: Open) -> None:
    config = PRESETS["three-back"].config.replace(steps=3, k=2, seed=5)
    run = store_ended_run(config)
    app = open_page("lab.py", unfolded=True, run=run.id)
    assert not app.warning
    assert app.session_state["run"] == run.id
    assert from_query({**linked(app), "v": "1"})[0] == config
    changed = open_page("lab.py", unfolded=True, run=run.id, task="reverse", k_is="2")
    assert "`k_is` is not a setting here" in page_text(changed)
    assert changed.selectbox(key="set.task").value == "reverse"
    assert changed.number_input(key="set.seed").value == 5

    steps = RunConfig().steps
    address = dict(app.query_params)
    assert "steps" in address
    app.number_input(key="set.steps").set_value(steps).run()
    assert dict(app.query_params) == address | {"run": run.id, "steps": str(steps)}
    again = open_page("lab.py", unfolded=True, **app.query_params)
    assert again.number_input(key="set.steps").value == steps


def test_settings_that_do_not_fit_are_named_and_nothing_is_lost(open_page: Open) -> None:
    app = open_page("lab.py", unfolded=True, steps="77")
    assert "More · 1 changed" in {box.label for box in app.expander}
    app.number_input(key="set.n_heads").set_value(5).run()
    assert "`n_heads` is `5`" in page_text(app)
    assert disabled(app, "Train")
    app.number_input(key="set.n_heads").set_value(4).run()
    assert not disabled(app, "Train")
    for label in ("Train", "Step", "New seed"):  # a click leaves the box of a number, whose value then comes with it
        before = app.session_state["form"]
        app.session_state["form"] = before | {"n_heads": 5}
        press(app, label)
        assert "`n_heads` is `5`" in page_text(app)
        assert not app.exception
        app.session_state["form"] = before
        app.run()
    assert app.number_input(key="set.steps").value == 77


def test_a_run_comes_to_its_finding_and_is_there_after_a_change_a_visit_elsewhere_and_a_reload(open_page: Open) -> None:
    app = trained(open_page("lab.py", steps="120", seq_len="7"))
    finding = "answers on new sequences were right (second-half accuracy)"
    run_id = app.session_state["run"]
    assert finding in page_text(app)
    assert linked(app)["run"] == run_id
    again = open_page("lab.py", **linked(app))
    assert again.session_state["run"] == run_id
    assert finding in page_text(again)
    note = notes_of(app)[f"lab.{run_id}"]
    assert note.title == "Lab: Reverse"
    assert finding in note.finding
    assert "Steps 120" in note.run
    assert not notes_of(again), "another visitor's run is no part of a report"
    assert "Report (HTML)" in [file.label for file in app.get("download_button")]

    app.number_input(key="set.n_layers").set_value(2).run()
    assert "Settings changed since this run: Depth 1 → 2" in page_text(app)
    app.switch_page("start.py").run()
    app.switch_page("lab.py").run()
    assert [app.number_input(key=f"set.{name}").value for name in ("seq_len", "n_layers")] == [7, 2]
    assert app.session_state["run"] == run_id
    assert finding in page_text(app)

    run = run_of(app)
    settings = json.loads(settings_json(run))
    assert settings.pop("provenance") == provenance()
    assert from_query(settings) == (run.config, [])
    assert "It keeps running, but" not in page_text(app)
    run.unsaved = "This run cannot be saved: No space left on device."
    assert "No space left on device. It keeps running, but will be lost if the server restarts" in page_text(app.run())
    app.toggle(key=f"keep.{run.id}").set_value(True).run()
    assert run.pinned
    app.toggle(key=f"keep.{run.id}").set_value(False).run()
    assert not run.pinned
    app.button(key="delete").click().run()
    assert server.find(run.id) is None
    assert "run" not in app.session_state
    assert "this server has no such run" not in page_text(app)

    app.number_input(key="set.n_layers").set_value(1).run()
    press(app, "New seed")
    assert run_of(app).config == RunConfig(steps=120, seed=1).replace(seq_len=7)


def test_the_missing_mask_raises_the_alarm(open_page: Open) -> None:
    app = trained(open_page("lab.py", preset="missing-mask", steps="80"))
    assert "First-half accuracy is 1.00, chance is 0.1" in page_text(app)
    assert app.error[0].value.startswith("False success. With the right answers as input, second-half accuracy")
    assert not app.success
    assert "Learned" not in page_text(app)


def test_a_softmax_over_the_queries_is_warned_of_and_the_next_step_is_one_over_the_keys(open_page: Open) -> None:
    app = open_page("lab.py", task="copy", softmax_axis="query", attention_impl="materialised", steps="150")
    assert "With the softmax over the queries, each weight depends on later symbols." in page_text(app)
    trained(app)
    assert app.error[0].value.startswith("False success. With the right answers as input, second-half accuracy")
    assert "With the softmax over the keys the score means something again." in page_text(app)
    assert "Learned" not in page_text(app)
    assert app.button(key="lab.next").label == "Try Softmax axis Keys"


def test_pause_step_resume_stop_and_reset(open_page: Open) -> None:
    app = open_page("lab.py", steps="50000")
    app.selectbox(key="pace").select("20 steps per second").run()
    press(app, "Train")
    first = run_of(app)
    assert first.wait_for(3, 30)
    press(app, "Pause")
    while first.state != "paused":
        first.wait_for(len(first.events) + 1, 0.2)
    assert first.weights is not None, "the page of texts writes with those of a paused run"
    before = first.step
    press(app.run(), "Step")
    while first.step == before:
        first.wait_for(len(first.events) + 1, 0.2)
    assert first.step == before + 1
    press(app.run(), "Resume")
    assert first.wait_for(len(first.events) + 2, 30)
    press(app, "Reset")
    again = run_of(app)
    assert again.id != first.id
    assert again.config == first.config
    assert again.wait_for(2, 30)
    assert again.step == 0
    press(app.run(), "Stop")
    while again.live or first.live:
        again.wait_for(len(again.events) + 1, 0.2)
    assert (first.state, again.state) == ("stopped", "stopped")


def test_a_host_refuses_with_the_setting_to_lower(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = server.pool().limits.model_copy(update={"steps": 100})
    monkeypatch.setattr(server.pool(), "limits", limits)
    app = press(open_page("lab.py", steps="101"), "Train")
    assert "steps is 101; this host allows at most 100" in page_text(app)
    assert "run" not in app.session_state
    others = store_ended_run(RunConfig(steps=3))
    app = press(open_page("lab.py", run=others.id, steps="101"), "Step")
    assert "steps is 101; this host allows at most 100" in page_text(app), "and not that the shown run is another's"


# Choosing a task


def with_list(app: AppTest) -> AppTest:
    """The page with the list of all tasks open."""
    return app.button(key="lab.tasks").click().run()


def test_tasks_stand_in_groups_and_the_list_that_is_opened_says_of_each_what_it_asks(open_page: Open) -> None:
    app = open_page("lab.py")
    assert not app.subheader
    with_list(app)
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
    chosen = with_list(open_page("lab.py"))
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
