"""The task of naming the next word of a text."""
