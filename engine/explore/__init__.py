"""What explorer pages ask of a worker: pure functions, settings and arrays in, numpy and plain Python out."""
