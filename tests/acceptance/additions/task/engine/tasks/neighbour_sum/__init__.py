"""The task of adding each symbol to the one before it."""
