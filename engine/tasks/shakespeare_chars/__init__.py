"""The task of naming the next character of a text."""
