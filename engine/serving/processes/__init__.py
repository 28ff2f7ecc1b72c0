"""The worker processes: their machines, their start, supervision and end, and their tasks."""
