"""The base of the errors whose message is meant for the reader."""

from __future__ import annotations


class Explained(Exception):
    """An error whose message is one sentence for a person: the given and the allowed value, or the failure."""
