"""The effect of depth on a model, untrained or trained."""
