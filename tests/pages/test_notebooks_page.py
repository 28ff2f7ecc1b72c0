"""The notebooks page by its widgets and words: overview, steps, running, links, refusals."""

from collections.abc import Iterator
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from engine.foundation.visitor import Visitor
from engine.hosting.allowances import Allowances
from engine.hosting.limits import Limits
from engine.notebooks import NOTEBOOKS
from engine.notebooks import players as players_module
from engine.notebooks.player import Outcome, Play
from engine.notebooks.players import Players
from pages.parts.app.in_markdown import escaped
from pages.parts.notebooks import state
from pages.parts.notebooks.reading import within
from tests.engine.workers.test_pool import until
from tests.pages.looking import WORDS, Open

NOTEBOOK = NOTEBOOKS["mean-pooling"]
SCRIPT = """
import sys
from engine.foundation.messages import receive, send
from engine.notebooks import NOTEBOOKS
left = [cell.number for cell in NOTEBOOKS["mean-pooling"].cells if cell.kind == "code"]
while True:
    last = receive(sys.stdin.buffer)
    while left and left[0] <= last:
        cell = left.pop(0)
        for message in ({"event": "started"}, {"event": "text", "text": "a number: given 0.5, here 0.4\\nand words\\n"},
                        FAILED if cell == FAILING else {"event": "passed", "seconds": 0.1}):
            send(sys.stdout.buffer, {"cell": cell} | message)
    send(sys.stdout.buffer, {"event": "waiting", "until": last})
"""
"""A process that passes every cell but one, without running any."""
FAILED = {"event": "failed", "seconds": 0.1, "error": "AssertionError: assert 1 == 2", "line": 3}


def plays(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let notebooks be played by a process of this code."""
    monkeypatch.setattr(players_module, "Play", partial(Play, command=["-c", code]))


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Players]:
    """Players whose processes pass every cell at once; the last test fails."""
    known = f"FAILING, FAILED = {NOTEBOOK.steps[7].code[-1].number}, {FAILED!r}\n"
    plays(monkeypatch, known + SCRIPT)
    allowances = Allowances(Limits(notebooks=1))
    found = Players(lambda: allowances)
    monkeypatch.setattr(state, "PLAYERS", found)
    yield found
    found.close()


def said(app: AppTest) -> str:
    return " ".join(str(box.value) for kind in (*WORDS, "code") for box in app.get(kind))


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def arrived(app: AppTest, players: Players) -> AppTest:
    """As the page is once the process has done what it was asked."""
    until(lambda: own_play(app, players).state != "running")
    return app.run()


def own_play(app: AppTest, players: Players) -> Play:
    return players.find(app.session_state[state.PLAYS][NOTEBOOK.slug])


def badges(app: AppTest) -> list[str]:
    """The state of each step, in order."""
    lines = next(box.value for box in app.markdown if "(#step-1)" in box.value).split("  \n")
    words = {icon: name for name, (icon, _) in state.STATES.items()}
    return [next((state for icon, state in words.items() if icon in line), "text") for line in lines]


def test_the_overview_leads_to_every_notebook_and_so_do_links_that_name_one(open_page: Open) -> None:
    app = open_page("notebooks.py")
    links = {link.proto.query_string for link in app.get("page_link")}
    assert {f"notebook={slug}" for slug in NOTEBOOKS} <= links
    for notebook in NOTEBOOKS.values():
        assert notebook.learns in said(app)

    app = open_page("notebooks.py", notebook=NOTEBOOK.slug)
    assert app.title[0].value == NOTEBOOK.title


def test_run_to_here_then_the_rest_and_back_again(open_page: Open, played: Players) -> None:
    app = open_page("notebook.py", notebook=NOTEBOOK.slug)
    assert (app.title[0].value, set(badges(app))) == (NOTEBOOK.title, {"not run", "text"})
    assert [code.value for code in app.code] == [cell.source for cell in NOTEBOOK.cells if cell.kind == "code"]
    arrived(press(app, f"notebooks.run.{NOTEBOOK.slug}.2"), played)
    assert badges(app)[:3] == ["passed", "passed", "not run"]
    assert "||given|here|\n|---|---:|---:|\n|A number|0.5|**0.4**|" in said(app)
    assert "Both outputs and both means are the given ones to four digits." in said(app)
    app.switch_page("glossary.py").run()
    app.query_params.clear()
    app.switch_page("notebooks.py").run()
    assert "2 of 7 steps passed" in said(app)
    app.switch_page("notebook.py")
    app.query_params["notebook"] = NOTEBOOK.slug
    arrived(press(app.run(), "notebooks.all"), played)
    assert badges(app) == ["passed"] * 6 + ["failed", "text"]
    assert f"Line 3. {escaped('AssertionError: assert 1 == 2')}" in said(app)
    another = open_page("notebook.py", notebook=NOTEBOOK.slug, play=app.query_params["play"])
    assert badges(another)[:2] == ["passed", "passed"], "the link shows the same outputs"
    press(app, "notebooks.clear")
    assert set(badges(app)) == {"not run", "text"}


def test_stop_keeps_what_the_cell_had_printed_and_who_sees_a_play_by_a_link_can_neither_stop_nor_clear_it(
    open_page: Open, played: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(cell.number for cell in NOTEBOOK.cells if cell.kind == "code")
    said_before = ({"cell": first, "event": "started"}, {"cell": first, "event": "text", "text": "seed 1 of 10: 3\n"})
    code = "import sys, time\nfrom engine.foundation.messages import send\n"
    code += f"for said in {said_before!r}: send(sys.stdout.buffer, said)\ntime.sleep(600)"
    plays(monkeypatch, code)
    app = press(open_page("notebook.py", notebook=NOTEBOOK.slug), "notebooks.all")
    play = own_play(app, played)
    until(lambda: first in play.outcomes and play.outcomes[first].text != "")
    other = open_page("notebook.py", notebook=NOTEBOOK.slug, play=play.id)
    assert "notebooks.stop" not in [button.key for button in other.button]
    press(other, "notebooks.clear")
    assert play.state == "running"
    arrived(press(app.run(), "notebooks.stop"), played)
    assert badges(app)[0] == "stopped"
    assert "seed 1 of 10: 3" in said(app)


def test_a_full_host_says_so_in_one_sentence(open_page: Open, played: Players) -> None:
    busy = played.begin(NOTEBOOKS["fixed-length"], Visitor("somebody"))
    busy.until = 0
    busy.state = "running"
    app = press(open_page("notebook.py", notebook=NOTEBOOK.slug), "notebooks.all")
    assert "1 notebook of all visitors is going, as many as this host allows. Try again later." in said(app)
    assert set(badges(app)) == {"not run", "text"}


def test_a_host_that_plays_none_says_so_on_arrival(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    allowances = Allowances(Limits.from_environment({"ATTENTION_LAB_PROFILE": "public"}))
    assert not allowances.limits.notebooks
    monkeypatch.setattr(state, "PLAYERS", Players(lambda: allowances))
    app = open_page("notebook.py", notebook=NOTEBOOK.slug)
    assert "This host plays no notebooks. Download this one as a Jupyter notebook: it runs by itself." in said(app)
    assert not [button.key for button in app.button if str(button.key).startswith(("notebooks.all", "notebooks.run."))]
    assert "run it here" not in said(open_page("notebooks.py"))


def test_the_tab_opens_the_notebook_that_was_read_last_or_the_first(open_page: Open) -> None:
    assert open_page("notebook.py").title[0].value == next(iter(NOTEBOOKS.values())).title
    last = list(NOTEBOOKS.values())[-1]
    app = open_page("notebook.py", notebook=last.slug)
    app.switch_page("notebooks.py").run()
    app.query_params.clear()
    app.switch_page("notebook.py").run()
    assert (app.title[0].value, dict(app.query_params)) == (last.title, {"notebook": last.slug})


def test_a_cell_says_how_far_it_is(played: Players) -> None:
    play = played.begin(NOTEBOOK)
    for text, share in (("", 0.0), ("seed 3 of 10: 2\n", 0.3), ("step 1 of 4\nother words\n", 0.0), ("9 of 4\n", 0.0)):
        play.outcomes[2] = Outcome(text=text)
        assert within(play) == pytest.approx(share)
