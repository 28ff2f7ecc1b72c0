"""The devices: the choice of a run's, and what a worker process finds."""

from __future__ import annotations

import torch

from engine.config.run_config import RunConfig
from engine.estimate.prediction import CPU_IS_FASTER_BELOW
from engine.hosting.host import DeviceFacts

NOT_EXACT = "On {} the same settings and seed give nearly the same numbers: sums run in a changing order there."
"""The note on a device whose kernels are not deterministic: only on a CPU is a run repeated to the last bit."""


def choose_device(config: RunConfig, flops_per_step: float) -> tuple[torch.device, str]:
    """The device, and a note that explains the choice ("" where there is nothing to explain).

    Raises ValueError with one sentence where the config names a device that this machine lacks.
    """
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if config.device == "auto":
        if accelerator is None:
            return torch.device("cpu"), ""
        if flops_per_step < CPU_IS_FASTER_BELOW:
            return torch.device(
                "cpu"
            ), f"CPU chosen: a model this small is usually faster there than on {accelerator.type}."
        return accelerator, NOT_EXACT.format(accelerator.type)
    if config.device != "cpu" and (accelerator is None or accelerator.type != config.device):
        found = "cpu" if accelerator is None else f"cpu, {accelerator.type}"
        raise ValueError(f"device is {config.device}; this machine has {found}.")
    return torch.device(config.device), "" if config.device == "cpu" else NOT_EXACT.format(config.device)


def describe_device(slot: int) -> DeviceFacts:
    """Set one thread for this worker and choose its device: worker i owns GPU i. To workers beyond the last GPU the pool gives no
    run that uses one."""
    torch.set_num_threads(1)
    facts = DeviceFacts(
        torch=str(torch.__version__), accelerator=None, accelerators=0, accelerator_name="", accelerator_memory=0
    )
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is not None:
        kind, count = accelerator.type, torch.accelerator.device_count()
        facts["accelerator"], facts["accelerators"] = kind, count
        if kind == "cuda" and slot < count:
            torch.cuda.set_device(slot)
            facts["accelerator_name"] = torch.cuda.get_device_name(slot)
            facts["accelerator_memory"] = torch.cuda.mem_get_info(slot)[0]
    return facts
