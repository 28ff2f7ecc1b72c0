"""The choice of a run's device."""

from __future__ import annotations

import torch

from engine.config.run_config import RunConfig
from engine.estimate.prediction import CPU_IS_FASTER_BELOW


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
        return accelerator, ""
    if config.device != "cpu" and (accelerator is None or accelerator.type != config.device):
        found = "cpu" if accelerator is None else f"cpu, {accelerator.type}"
        raise ValueError(f"device is {config.device}; this machine has {found}.")
    return torch.device(config.device), ""
