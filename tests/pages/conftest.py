"""Pages as AppTest runs them: from the main script, over a real pool with a data folder."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pandas  # noqa: F401  # as the server has it before any page runs
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree

from engine.experiments import long_runs
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.running.shared_trials import SharedTrials
from engine.serving.processes import forked, supervisor
from engine.serving.processes.forked import WARM, ForkServer
from pages.parts.app import server
from pages.parts.charts import base
from pages.parts.experiments import running
from pages.parts.lab.form import ICONS
from pages.parts.questions.conclusions import long_findings_of
from tests.pages.scripted_experiment import PUBLISHED, Scripted, ScriptedPool, issue_of, value_of
from tests.serving import SPEED

MAIN = Path(__file__).parents[2] / "pages" / "main.py"


@pytest.fixture(autouse=True)
def _figures_are_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Plotly check every property of every figure here."""
    monkeypatch.setattr(base, "VALIDATE", True)


@pytest.fixture(autouse=True)
def _no_script_run_ends_with_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first one of a page nor one after a press or another change."""
    run = ElementTree.run

    def run_well(tree: ElementTree, *, timeout: float | None = None) -> AppTest:
        app = run(tree, timeout=timeout)
        assert not app.exception, app.exception
        return app

    monkeypatch.setattr(ElementTree, "run", run_well)


@pytest.fixture(scope="session", autouse=True)
def _packages_are_read_once() -> Iterator[None]:
    """Streamlit's test session looks through all installed packages for components, which takes longer than most pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def _fork_server() -> Iterator[ForkServer]:
    """Pages ask and train for real: torch is imported once, not by each process that is started for a question."""
    forks = ForkServer()
    yield forks
    forks.close()


@pytest.fixture(scope="session")
def _own_folder(_fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The folder in which all page tests of this process keep their data; one worker, awake once, serves them all. The speed of the
    machine is known there: to measure it takes seconds."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "speed.json").write_text(json.dumps(SPEED))
    yield str(folder)
    server.close()


@pytest.fixture(scope="module")
def _data_folder(_own_folder: str, _fork_server: ForkServer) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked, "WARM", WARM)
        patch.setattr(forked, "FORK_SERVER", _fork_server)
        patch.setattr(supervisor, "STARTS_WITHIN", 600.0)  # on a busy machine the import of torch takes minutes
        patch.setenv("ATTENTION_LAB_DATA", _own_folder)
        patch.setenv("ATTENTION_LAB_WORKERS", "1")
        patch.setenv("ATTENTION_LAB_NICENESS", "0")  # its runs are waited for
        yield
        for run in server.pool().runs.live():
            server.pool().stop(run.id)
            run.wait_for(10**9, 60)


@pytest.fixture
def open_page(_data_folder: None) -> Callable[..., AppTest]:
    """Open a page by its file name, with the query of a link; ``unfolded``: with every group of the lab's settings open. The
    content of More is always there."""

    def open_it(page: str, *, unfolded: bool = False, **query: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=300)
        if unfolded:
            for group in ICONS:
                app.session_state[f"group.{group}"] = True
        app.session_state["lab.more"] = app.session_state["lab.share"] = True
        app.switch_page(page)
        app.query_params.update(query)
        return app.run()

    return open_it


@pytest.fixture(autouse=True)
def a_browser_without_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's test session has mock objects instead of a browser's messages."""
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {}))
    monkeypatch.setattr(ContextProxy, "ip_address", property(lambda self: None))


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, own_data_folder: object) -> Iterator[Scripted]:
    """An issue of four arms in the registry, and a pool whose runs end at once."""
    issue = issue_of(4, 3, published=(PUBLISHED,), notes=("How it is measured.",))
    monkeypatch.setitem(ISSUES, issue.slug, issue)
    by_depth = {issue.config(arm).n_layers: arm for arm in issue.arms}
    pool = ScriptedPool(lambda config: value_of(by_depth[config.n_layers], config.seed))
    monkeypatch.setattr(server, "pool", lambda: pool)
    monkeypatch.setattr(running, "SHARED", SharedTrials())  # no test follows a trial of another one's pool
    yield issue, pool
    for run in pool.submitted:
        pool.stop(run.id)  # what one test leaves running no other test follows


@pytest.fixture
def long_runs_of_mask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Issue]:
    """Made-up long runs of one question, whose worse row stays where it is; no other question has any."""
    issue = ISSUES["missing-mask"]
    curves = {issue.key_figure.before.arm: [0.1, 0.1, 0.1, 0.1], issue.key_figure.after.arm: [0.1, 0.9, 1.0, 1.0]}
    rows = {
        arm: {
            "rate": 0.01, "steps": [15, 150, 750, 1500], "fingerprint": issue.fingerprint(issue.arm(arm)),
            "values": {"first_half_accuracy": [curve] * 16},
        }
        for arm, curve in curves.items()
    }  # fmt: skip
    monkeypatch.setattr(long_runs, "rows", lambda _: {issue.slug: rows})
    long_findings_of.cache_clear()
    yield issue
    long_findings_of.cache_clear()
