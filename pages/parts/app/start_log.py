"""What the log says when the workers start: the limits, the cluster, and who else uses the data folder."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from engine.runs.lease import Holder
from engine.workers.hosting.limits import PROFILE, Limits


def start_lines(
    limits: Limits, environ: Mapping[str, str], address: str | None, others: Sequence[Holder], scheduler: str = ""
) -> Iterator[str]:
    """The lines of the log. ``address``: where the server listens; None for everywhere. ``others``: servers on the same data.
    ``scheduler``: the address of the cluster's; empty without one."""
    given = " ".join(f"{name}={value}" for name, value in limits.model_dump().items())
    yield f"Profile {environ.get(PROFILE, 'own')}; limits: {given}"
    if PROFILE not in environ and not is_loopback(address):
        yield (
            f"The server can be reached from other computers and {PROFILE} is not set: the limits are those for one's own "
            f"computer. Set {PROFILE}=public, or {PROFILE}=own to keep them."
        )
    if scheduler:
        yield f"Runs are trained on the workers of the cluster at {scheduler}; on this machine while there are none."
    for other in others:
        yield f"Another server (process {other.pid} on {other.host.split()[0]}) uses the same data folder; its runs stay its own."


def is_loopback(address: str | None) -> bool:
    """Whether only this computer reaches an address."""
    if address is None:
        return False
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
