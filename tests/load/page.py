"""A page as a browser keeps it: the values of its widgets, which it sends with each rerun, and a run as its board follows it: the
event stream, what was seen of it and when, and what the board tells the page."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from streamlit.proto.WidgetStates_pb2 import WidgetState

LIVE = ("queued", "running", "paused")


@dataclass
class Board:
    """One run as it was seen. Times are those of ``time.perf_counter``."""

    run: str
    shown: float = field(default_factory=time.perf_counter)
    """When the page showed this run."""
    state: str = "queued"
    step: int = 0
    heard: bool = False
    """Whether a message has come."""
    last: int = 0
    """The number of the first event that has not come yet."""
    points: list[float] = field(default_factory=list)
    """When each message came that brought further steps."""
    polled: bool = False
    """Whether the stream was given up and the page polls."""
    reported: str = ""
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.state not in LIVE

    @property
    def updates_per_second(self) -> float | None:
        """From the first point to the last; None where there are too few to tell."""
        return (len(self.points) - 1) / (self.points[-1] - self.points[0]) if len(self.points) > 2 else None

    def take(self, news: dict[str, Any]) -> None:
        """Take in a message, streamed or polled."""
        status, self.heard = news["status"], True
        if news["last"] > self.last and status["step"] > self.step:
            self.points.append(time.perf_counter())
        self.last = max(self.last, news["last"])
        self.step, self.state, self.problem = status["step"], status["state"], status["problem"]

    def tells(self, page_state: str) -> bool:
        """Whether the page must hear of the state, because its buttons are out of date; once for each state."""
        now = _kind(self.state)
        if now in (_kind(page_state), self.reported):
            return False
        self.reported = now
        return True


def _kind(state: str) -> str:
    return "running" if state == "queued" else state


async def messages(http: aiohttp.ClientSession, address: str, run: str, after: int) -> AsyncIterator[dict[str, Any]]:
    """The messages of a run's event stream. Raises aiohttp.ClientError where it is refused or breaks off."""
    rest = b""
    async with http.get(f"{address}live/{run}", params={"after": str(after)}) as answer:
        answer.raise_for_status()
        async for chunk in answer.content.iter_any():
            *whole, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n\n")
            for message in whole:
                for line in message.split(b"\n"):
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])


KINDS = (
    "number_input", "slider", "selectbox", "radio", "text_input", "text_area", "checkbox", "button_group", "multiselect",
)  # fmt: skip
"""The kinds of elements that keep a value here; others keep none, as if the page had not drawn them."""


def drawn(kind: str, widget: Any) -> WidgetState | None:
    """The state of a widget that has just been drawn; None where it has no value."""
    state = WidgetState(id=widget.id)
    match kind:
        case "number_input" if widget.HasField("value") or widget.HasField("default"):
            state.double_value = widget.value if widget.set_value else widget.default
        case "slider":
            state.double_array_value.data.extend(widget.value if widget.set_value else widget.default)
        case "selectbox" | "radio" if widget.set_value and widget.HasField("raw_value"):
            state.string_value = widget.raw_value
        case "selectbox" | "radio" if widget.HasField("default"):
            state.string_value = widget.options[widget.default]
        case "text_input" | "text_area" if widget.set_value or widget.HasField("default"):
            state.string_value = widget.value if widget.set_value else widget.default
        case "checkbox":
            state.bool_value = widget.value if widget.set_value else widget.default
        case "button_group" | "multiselect":
            names = _options(widget)
            chosen = widget.raw_values if widget.set_value else [names[place] for place in widget.default]
            state.string_array_value.data.extend(chosen)
        case _:
            return None
    return state


def move(widget: Any, state: WidgetState) -> None:
    """Change the state as a reader does: the next choice of several, or one step up where the value was not moved, else back."""
    match state.WhichOneof("value"):
        case "double_value":
            start = widget.value if widget.set_value else widget.default
            state.double_value = start if state.double_value != start else _beside(start, widget)
        case "double_array_value":
            start = (widget.value or widget.default)[0]
            now = state.double_array_value.data
            now[0] = start if now[0] != start else _beside(start, widget)
        case "bool_value":
            state.bool_value = not state.bool_value
        case "string_value" if hasattr(widget, "options"):
            state.string_value = _following(_options(widget), state.string_value)
        case "string_array_value":
            now = state.string_array_value.data
            now[:] = [_following(_options(widget), now[0] if now else "")]
        case other:
            raise ValueError(f"A widget with {other or 'no value'} cannot be moved: {widget.label}")


def _beside(value: float, widget: Any) -> float:
    return value + widget.step if value + widget.step <= widget.max else value - widget.step


def _options(widget: Any) -> list[str]:
    return [option if isinstance(option, str) else option.content for option in widget.options]


def _following(options: list[str], now: str) -> str:
    place = options.index(now) if now in options else -1
    return options[(place + 1) % len(options)]
