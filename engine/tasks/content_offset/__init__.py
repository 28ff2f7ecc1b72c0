"""The task in which each token says how far back its answer stands."""
