"""A small network on the position, added to the embedding."""
