"""The task of writing the symbols in ascending order."""
