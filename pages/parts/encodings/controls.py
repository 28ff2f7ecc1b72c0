"""The page's settings as widgets."""

from __future__ import annotations

from typing import Any

from pages.parts.encodings.state import SETTINGS


def control(name: str, **more: Any) -> None:
    """The widget of a setting, if the setting exists with the chosen encodings."""
    if name in SETTINGS.rows():
        SETTINGS.widget(name, side_by_side=True, **more)
