"""Runs: events, the run in memory, its folder on disk, the store of all runs, its summary."""
