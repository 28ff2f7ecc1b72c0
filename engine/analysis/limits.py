"""Limits on the arguments of the functions here, readable without importing them."""

LONGEST = 400
"""The most tokens written by one call."""
