"""The choice of the device of a run: by the measured speeds, where the config leaves it open; the facts that a worker finds about it.

The choice is made once, when a run is submitted, and stays with it: a run that is checkpointed and goes on later has the same device,
whatever was measured in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from engine.foundation.formatting import in_fine_time

CPU = "cpu"
ACCELERATOR_FROM = 1e8
"""FLOPs of a step from which an accelerator is taken whose speed is not measured. On an H100, eager, a step of 4.3e7 FLOPs took
4.3 ms where one core of its host took 4.7 ms, and one of 1.4e9 took 6.7 ms and 31.5 ms (torch 2.11, CUDA 13): the two
are as fast near 5e7. The constant lies above, since slower accelerators need as long to launch a kernel. As soon as the speeds are
measured, these decide."""
BY_SPEED = "A step is predicted to take {} on {} and {} on {}."


def device_in_words(kind: str) -> str:
    """The part of the machine for which a time is predicted."""
    return "one CPU core" if kind == CPU else kind


@dataclass(frozen=True)
class DeviceChoice:
    accelerator: bool = False
    """Whether the run uses an accelerator, where there is one."""
    timed: str = CPU
    """The kind of device for which the time of the run is predicted. It is the CPU for a run that would use an accelerator, where none
    is measured on this machine."""
    why: str = ""
    """One sentence on the speeds that were compared; empty where they are not measured, or the config names the device."""


def choose(requested: str, flops: float, seconds: Mapping[str, float]) -> DeviceChoice:
    """The device for a config's ``device``. ``flops``: of a step; ``seconds``: of a step, by the kinds of device that are measured."""
    if requested != "auto":
        return DeviceChoice(requested != CPU, requested)
    kind = next((kind for kind in seconds if kind != CPU), None)
    if kind is None or CPU not in seconds:
        return DeviceChoice(flops >= ACCELERATOR_FROM)
    faster, slower = (kind, CPU) if seconds[kind] < seconds[CPU] else (CPU, kind)
    reason = (in_fine_time(seconds[faster]), faster, in_fine_time(seconds[slower]), slower)
    return DeviceChoice(faster == kind, faster, BY_SPEED.format(*reason))


class DeviceFacts(TypedDict, total=False):
    """Facts that a worker found about torch and its device; none with a stand-in for the training."""

    torch: str
    """The version."""
    accelerator: str | None
    """The kind, such as ``cuda``; None where there is none."""
    accelerators: int
    accelerator_name: str
    accelerator_memory: int
    """Bytes that are free on the GPU that this worker owns, beside its own context; 0 where it owns none, or one that shares the host's
    memory (Apple's)."""


KEPT_ON_DEVICE = 512 * 2**20
"""The memory of a GPU that a process may keep for its next run, in bytes."""
