"""The device of a run, chosen by the measured speeds if the config leaves it open.

The choice is made when a run is submitted and stays with it: a checkpointed run continues on the same device, whatever was measured since.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from engine.foundation.formatting import in_fine_time

CPU = "cpu"
# FLOPs of a step from which an accelerator is taken whose speed is not measured. On an H100, eager, a step of 4.3e7 FLOPs took
# 4.3 ms where one core of its host took 4.7 ms, and one of 1.4e9 took 6.7 ms and 31.5 ms (torch 2.11, CUDA 13): the two are as
# fast near 5e7. The constant is higher because slower accelerators need as long to launch a kernel.
ACCELERATOR_FROM = 1e8
BY_SPEED = "A step is predicted to take {} on {} and {} on {}."


def device_in_words(kind: str) -> str:
    return "one CPU core" if kind == CPU else kind


@dataclass(frozen=True)
class DeviceChoice:
    accelerator: bool = False  # the run uses an accelerator, if there is one
    # the kind of device for which the time is predicted: CPU for a run that would use an accelerator, if none is measured
    timed: str = CPU
    # a sentence on the speeds that were compared; empty if they are not measured, or the config names the device
    why: str = ""


def choose(requested: str, flops: float, seconds: Mapping[str, float]) -> DeviceChoice:
    """``requested``: a config's ``device``; ``flops``: of a step; ``seconds``: of a step, by the kinds of device that are measured."""
    if requested != "auto":
        return DeviceChoice(requested != CPU, requested)
    kind = next((kind for kind in seconds if kind != CPU), None)
    if kind is None or CPU not in seconds:
        return DeviceChoice(flops >= ACCELERATOR_FROM)
    faster, slower = (kind, CPU) if seconds[kind] < seconds[CPU] else (CPU, kind)
    reason = (in_fine_time(seconds[faster]), faster, in_fine_time(seconds[slower]), slower)
    return DeviceChoice(faster == kind, faster, BY_SPEED.format(*reason))


class DeviceFacts(TypedDict, total=False):
    torch: str
    accelerator: str | None  # the kind, such as "cuda"
    accelerators: int
    accelerator_name: str
    accelerator_memory: int
    """Bytes free on this worker's GPU, next to its own context; 0 if it has none, or one that shares the host's memory (Apple's)."""


MAX_FREE_DEVICE_BYTES = 512 * 2**20  # bytes of a GPU that a process may keep for its next run
