"""Analyses of models, done in workers: pure functions from configs and arrays to numpy and plain Python."""
