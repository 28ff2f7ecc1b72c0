"""A learned table added to the embedding."""
