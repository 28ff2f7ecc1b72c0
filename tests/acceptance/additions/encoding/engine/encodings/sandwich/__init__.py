"""Sandwich: the inner product of two sinusoidal encodings as a bias."""
