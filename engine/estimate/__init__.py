"""Estimates from the config alone: shapes, parameters, memory, FLOPs, time, and warnings about a run."""
