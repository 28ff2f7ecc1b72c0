"""Plotly's script from the installed package, so that no other host is contacted."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

from plotly import __version__

ADDRESS = f"plotly-{__version__}.min.js"
"""The script's address relative to the app; a new version has a new address."""


def plain() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def packed() -> bytes:
    """The compressed script, made once a process; compressing takes longer than a first page should wait."""
    return gzip.compress(plain(), compresslevel=6)
