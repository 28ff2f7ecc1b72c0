"""Widgets as the browser keeps them: the state of one that was drawn, and the state after a reader has moved it.

A browser sends the state of every widget with each rerun; so does the load.
"""

from __future__ import annotations

from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState

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
