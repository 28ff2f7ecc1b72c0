"""Running experiments: their trials on the worker pool, shared among those who wait for the same, and stored when they end."""
