"""Attention Lab's engine: everything that is not a screen.

Works alone, as a library and as ``python -m engine``. Never imports streamlit. Modules that need torch
are imported by workers only; configs, registries, events and predictions are plain Python.
"""

VERSION = "0.2.0"  # CONTRIBUTING.md says when it changes
RELEASED = "2026-11-26"  # the day of this version: year-month-day
