"""Running experiments: their trials on the worker pool, shared among all experiments that need the same, and stored when they end."""
