"""Training on other machines: runs as tasks of a Dask cluster.

Needs the packages of ``requirements-cluster.txt``; none of them is imported before a scheduler is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.serving.cluster.cluster import DaskCluster

SCHEDULER_VARIABLE = "ATTENTION_LAB_SCHEDULER"  # names the scheduler to which the app sends its runs


def cluster_at(address: str) -> DaskCluster | None:
    """The cluster whose scheduler has this address, tls://host:port; None for an empty one. Raises ValueError with one sentence."""
    if not address:
        return None
    try:
        from engine.serving.cluster.cluster import DaskCluster
    except ModuleNotFoundError as error:
        if error.name != "distributed":
            raise
        raise ValueError(
            f"The scheduler is {address!r}, but Dask is not installed here; pip install -r requirements-cluster.txt installs it."
        ) from None
    return DaskCluster(address)
