"""Workers on other machines: the pool's worker processes, started on the workers of a Dask cluster.

Needs what ``requirements-cluster.txt`` names; nothing outside this folder imports it before a scheduler is named.
"""
