"""What explorer pages ask of a worker: pure functions, plain Python and numpy out."""
