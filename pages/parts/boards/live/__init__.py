"""The board of a run: its events as arrays, which the browser draws as they arrive."""
