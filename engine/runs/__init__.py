"""A run as it goes and as it is kept: events, the run, its folder, the store of all runs, its summary."""
