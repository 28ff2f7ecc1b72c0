"""The task of writing the symbols in one fixed, unknown order."""
