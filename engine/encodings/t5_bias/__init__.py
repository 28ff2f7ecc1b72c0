"""T5's learned bias for each head and bucket of distances."""
