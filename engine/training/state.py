"""The state of a training run: everything on which its next steps depend besides its config.

A run can be checkpointed between two steps and continued later, in another process: on a CPU with the same numbers to the last bit,
on a GPU with nearly the same.
"""

import pickle
from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.foundation.files import replacing
from engine.training.data import Batch, Data
from engine.training.device import RandomState
from engine.training.optimizers import build_optimizers
from engine.training.pretraining import Pretraining
from engine.training.recorder import Recorder

FORMAT = 1
UNREADABLE = "The stored state of this run cannot be read, so it cannot continue. The same settings and seed give the same run again."


class TrainingState:
    def __init__(
        self, config: RunConfig, model: nn.Module, device: torch.device, recorder: Recorder | None = None
    ) -> None:
        self.config, self.model, self.device = config, model, device
        self.recorder = recorder  # of the device that captures the steps; None if each is taken alone
        self.ahead = 1
        """The number of steps that may be taken before the events of the first of them are given. With more than one, the caller leaves the
        state alone while the last event's step is not :attr:`step`, or that event says that a device computes."""
        self.data = Data(config)
        self.pretraining = Pretraining(config) if config.pretrain_steps else None
        self.optimizers = build_optimizers(config, model)
        self.dropout = RandomState(config.seed, device) if config.dropout or config.position_dropout else None
        self.started = False  # true once the facts before the first step were given
        self.step = 0
        self.snapshot_step: int | None = None  # the step of the last snapshot that the config itself asks for
        # seconds of training so far; of steps that a device takes by itself, with the turns of other runs meanwhile
        self.busy = 0.0
        self.n_tokens = 0
        self.batch: Batch | None = None
        self._drawn_from = (
            self._drawing.generator.get_state()
        )  # the state of the data's generator before the last batch
        self._upcoming = deque[tuple[Tensor, Batch]]()  # each with the state of the data's generator before it

    @property
    def _drawing(self) -> Data:
        return self.pretraining or self.data

    def upcoming(self, count: int, at_once: int = 1) -> list[Batch]:
        """The batches of the next ``count`` steps, on the CPU; fewer before the end of pre-training or of the run. If some are not
        drawn yet, ``at_once`` are, or as many as are missing."""
        # after pre-training: the run's usual data, and fresh optimizers
        if self.pretraining is not None and self.step == self.config.pretrain_steps:
            self.pretraining, self.optimizers = None, build_optimizers(self.config, self.model)
        last = self.config.steps if self.pretraining is None else self.config.pretrain_steps
        drawn, remaining = len(self._upcoming), last - self.step
        if drawn < min(count, remaining):
            wanted = min(max(count, drawn + at_once), remaining)
            self._upcoming += self._drawing.training_batches(wanted - drawn)
        return [batch for _, batch in islice(self._upcoming, count)]

    def count(self, steps: int, seconds: float) -> None:
        for _ in range(steps):
            self._drawn_from, self.batch = self._upcoming.popleft()
            self.n_tokens += self.batch.inputs.numel()
        self.step += steps
        self.busy += seconds

    def save(self, file: Path) -> None:
        """Write the state; the file appears whole or not at all. Raises OSError."""
        content = {
            "format": FORMAT,
            "step": self.step,
            "snapshot_step": self.snapshot_step,
            "busy": self.busy,
            "seen": self.n_tokens,
            "pretraining": self.pretraining is not None,
            "drawn_from": self._drawn_from,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "dropout": None if self.dropout is None else self.dropout.states,
        }
        with replacing(file) as half_written:
            try:
                torch.save(content, half_written)
            except RuntimeError as error:  # torch's own writer hides the system's error
                raise OSError(str(error).splitlines()[0]) from error

    def load(self, file: Path) -> None:
        """Read a saved state of the same config. Raises ValueError with one sentence."""
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
            if content["format"] != FORMAT:
                raise ValueError(f"format is {content['format']}")
            if self.pretraining is not None and not content["pretraining"]:
                self.pretraining, self.optimizers = None, build_optimizers(self.config, self.model)
            self.model.load_state_dict(content["model"])
            for optimizer, saved in zip(self.optimizers, content["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
            if self.dropout is not None:
                self.dropout.states = content["dropout"]
            _check_counters(content, self.config.steps)
            self.started, self.step, self.snapshot_step = True, content["step"], content["snapshot_step"]
            self.busy, self.n_tokens = content["busy"], content["seen"]
            for _ in self.data.undrawn:  # before the generator is set: it draws them
                pass
            if self.step:  # draw the last batch again, so that the generator is in the same state as before
                self._drawing.generator.set_state(content["drawn_from"])
                ((self._drawn_from, self.batch),) = self._drawing.training_batches(1)
        except (
            OSError, EOFError, RuntimeError, LookupError, AttributeError, TypeError, ValueError, pickle.UnpicklingError,
        ) as error:  # fmt: skip
            raise ValueError(UNREADABLE) from error


def _check_counters(content: Mapping[str, object], steps: int) -> None:
    step, snapshot_step, busy, n_tokens = (content[name] for name in ("step", "snapshot_step", "busy", "seen"))
    counted = isinstance(step, int) and 0 <= step <= steps and isinstance(snapshot_step, int | None)
    if not (counted and isinstance(busy, int | float) and busy >= 0 and isinstance(n_tokens, int) and n_tokens >= 0):
        raise ValueError("counters that no run has")
