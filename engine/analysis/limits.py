"""Limits on the arguments of the functions here, readable without importing them."""

LONGEST = 400
"""The most tokens written by one call."""
LONGEST_PROMPT = 10_000
"""The most characters of a prompt; a model reads the last tokens that fit into its length."""
