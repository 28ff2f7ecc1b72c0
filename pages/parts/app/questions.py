"""A page's questions to a model, counted among those of its visitor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from engine.foundation.job import Answer, Job
from pages.parts.app import server
from pages.parts.app.turn import out_of_turn
from pages.parts.app.visitor import visitor


def ask(job: Job[Answer], *, alone: bool = False, timeout: float = 30.0) -> Answer:
    """The answer to a job; see :meth:`engine.workers.pool.Pool.ask`. Raises JobError with one sentence."""
    with out_of_turn():
        server.wake()  # a link to any page may be the first request to the server
        return server.pool().ask(job, visitor(), alone=alone, timeout=timeout)


def asking_threads(most: int) -> ThreadPoolExecutor:
    """Threads in which this page can ask several questions at once: they know the page's visitor."""
    return ThreadPoolExecutor(most, initializer=add_script_run_ctx, initargs=(None, get_script_run_ctx()))
