"""Learned Fourier features of the position, added to the embedding."""
