"""Analyses of models, computed in workers: pure functions from configs and arrays to numpy and plain Python."""
