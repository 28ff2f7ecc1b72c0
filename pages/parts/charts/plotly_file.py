"""Plotly's script as the installed package ships it, so that no other host is asked."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

from plotly import __version__

ADDRESS = f"plotly-{__version__}.min.js"
"""Relative to the app; a new version has a new address."""


def plain() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def packed() -> bytes:
    """Compressed once a process; this takes longer than a first page should wait."""
    return gzip.compress(plain(), compresslevel=6)
