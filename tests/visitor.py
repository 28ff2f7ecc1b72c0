"""A visitor without a screen, for tests that wait: a session of the load generator, whose every act returns once it is done."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from urllib.parse import parse_qs

from tests.load.session import Session, opened, visitor


class Visitor:
    """One visitor with a tab, the last one that was opened. ``query`` is what the address bar shows after the question mark."""

    def __init__(self, address: str, runner: asyncio.Runner, tabs: AsyncExitStack) -> None:
        self._address, self._run, self._tabs = address, runner.run, tabs
        self._http = self._run(tabs.enter_async_context(visitor()))
        self._tab: Session

    def open(self, page: str, query: str = "") -> None:
        """Open a page by the last part of its address; returns once it is complete."""
        self._tab = self._run(self._tabs.enter_async_context(opened(self._http, self._address, page, query)))

    def press(self, label: str) -> None:
        """Press the button with this label; returns once the page is complete again."""
        self._run(self._tab.press(label))

    @property
    def query(self) -> str:
        return self._tab.query

    @property
    def run_id(self) -> str:
        """The run that the page shows."""
        return parse_qs(self.query)["run"][0]


@contextmanager
def visiting(address: str) -> Iterator[Visitor]:
    """A new visitor of the app at this address, which has a slash at its end; all tabs are left at the end."""
    with asyncio.Runner() as runner:
        tabs = AsyncExitStack()
        yield Visitor(address, runner, tabs)
        runner.run(tabs.aclose())
