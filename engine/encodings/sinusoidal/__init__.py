"""Sinusoids added to the embedding."""
