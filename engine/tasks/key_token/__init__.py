"""The task in which one key moves every symbol."""
