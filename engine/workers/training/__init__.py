"""The runs on a worker: how each advances, and whose turn it is."""
