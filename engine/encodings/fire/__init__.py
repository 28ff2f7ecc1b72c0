"""FIRE: a learned function of the relative distance, added to the scores."""
