"""What a page may ask for of the functions here, known without importing them. Torch-free."""

LONGEST = 400
"""Tokens written at once."""
