"""The live board: a run's events as arrays for a component that draws them as they arrive."""
