"""The errors that a person can read."""

from __future__ import annotations


class Explained(Exception):
    """An error whose message is one sentence for a person: what was given and what is allowed, or what went wrong."""
