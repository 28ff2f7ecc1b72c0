"""Figures of experiments: curves of the arms, where they ended, effects, key figures, and the model that they change."""
