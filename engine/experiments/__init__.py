"""Experiments: documented issues, trials over the worker pool, statistics, and stored evidence."""
