"""The task of writing a sequence backwards."""
