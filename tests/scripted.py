"""A run that follows a script instead of training: the test drives it with ``advance``."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.runs.events import Ended, Event, Failed, Finished, Progress, Sample, Snapshot, Started, of_layer
from engine.runs.log import EventLog
from engine.settings.costs import Memory

PREDICTED = Memory(parameters=40_000, gradients=40_000, optimizer=80_000, saved=300_000, scores=90_000)
MEASURED = Memory(parameters=40_000, gradients=40_000, optimizer=80_000, saved=301_000, scores=90_000, peak=590_000)


@dataclass
class ScriptedRun:
    """A run whose loss falls smoothly while its attention sharpens."""

    config: RunConfig = field(default_factory=lambda: parse({"n_layers": 2, "n_heads": 4}))
    id: str = "scripted"
    state: str = "queued"
    queue_position: int | None = None
    queue_seconds: float | None = None
    machine: str = ""
    weights: Path | None = None
    setback: str = ""
    events: EventLog = field(default_factory=EventLog)
    step: int = 0
    watchers: list[Callable[[], None]] = field(default_factory=list)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        self._tell()

    def add(self, event: Event) -> None:
        self.events.append(event)
        self._tell()

    @contextmanager
    def watched(self, notify: Callable[[], None]) -> Iterator[None]:
        self.watchers.append(notify)
        yield
        self.watchers.remove(notify)

    def _tell(self) -> None:
        for notify in list(getattr(self, "watchers", [])):  # none while the fields are set for the first time
            notify()

    @property
    def live(self) -> bool:
        return self.state in ("queued", "running", "paused")

    @property
    def progress(self) -> Progress | None:
        return next((event for event in reversed(self.events) if isinstance(event, Progress)), None)

    @property
    def ending(self) -> Finished | Failed | Ended | None:
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Finished | Failed | Ended) else None

    def start(self) -> Self:
        self.state = "running"
        chance = {"loss": math.log(10), **dict.fromkeys(self.metrics(0.0), 0.1)}
        self.add(Started(10_000, PREDICTED, steps_per_second=500.0, chance=chance, floor=1.05, device="cpu"))
        self.take_snapshot()
        return self

    def advance(self, steps: int = 1) -> Self:
        """So many steps more, with a snapshot at geometrically spaced ones, and the end if it is reached."""
        if self.state == "queued":
            self.start()
        for _ in range(min(steps, self.config.steps - self.step)):
            self.step += 1
            every = max(1, self.config.steps // 100)
            self.add(self.one_step(measured=self.step % every == 0 or self.step == 1))
            if self.step in self.looked_at():
                self.take_snapshot()
        if self.step == self.config.steps:
            final = {"loss": self.loss(0.0), **self.metrics(0.0)}
            self.add(Finished(self.step, final, [{"length": 6, **final}], MEASURED, 1.5))
            self.state = "finished"  # as of a real run: whoever sees that it has ended finds its end
        return self

    def fail(self, reason: str, remedy: str | None = None) -> None:
        self.add(Failed(self.step, reason, 1, "decoder.1.mlp.out", remedy))
        self.state = "failed"

    def looked_at(self) -> set[int]:
        return {round(1.3**power) for power in range(60)} | {self.config.steps}

    def loss(self, noise: float) -> float:
        return 1.06 + 1.4 / (1 + (self.step / 60) ** 2) + noise

    def metrics(self, noise: float) -> dict[str, float]:
        return {
            "second_half_accuracy": min(1.0, max(0.0, 1 - 0.9 / (1 + (self.step / 60) ** 4) + noise)),
            "first_half_accuracy": 0.1 + noise / 2,
        }

    def one_step(self, *, measured: bool) -> Progress:
        wave = 0.06 * math.sin(self.step * 1.7)
        parts = {
            f"{layer}.{part}": 0.3 * (layer + 1) * weight / (1 + self.step / 50)
            for layer in range(self.config.n_layers)
            for part, weight in (("q", 0.1), ("k", 0.12), ("v", 0.8), ("out", 0.7), ("mlp", 0.5), ("norm", 0.05))
        } | {"embedding": 0.4 / (1 + self.step / 90), "encoding": 0.2, "head": 0.9 / (1 + self.step / 40)}
        return Progress(
            step=self.step, loss=self.loss(wave), grad_norm=1.0, learning_rate=0.01, tokens_per_second=21_000.0,
            metrics=self.metrics(wave) if measured else {},
            validation={"loss": self.loss(0.0), **self.metrics(0.0)} if measured else None,
            grad_norms=parts if measured else None,
        )  # fmt: skip

    def take_snapshot(self) -> None:
        layers, heads = self.config.n_layers, self.config.n_heads
        length, source = 2 * self.config.seq_len - 1, self.config.seq_len
        pictures = {"matrix": table(length, self.config.d_model), "similarity": similarity(length)}
        n_encodings = layers if ENCODINGS[self.config.pos_encoding].per_layer else 1
        encoding = {of_layer(name, n): array / (n + 1) for n in range(n_encodings) for name, array in pictures.items()}
        patterns = {"self": self.pattern(layers, heads, length, length)}
        if self.config.family == "encoder_decoder":
            patterns["encoder"] = self.pattern(layers, heads, source, source)
            patterns["cross"] = self.pattern(layers, heads, length, source)
        samples = [self.sample(row) for row in range(4)]
        self.add(Snapshot(self.step, patterns, encoding, samples))

    def pattern(self, layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
        """Causal softmax of scores that point at one key a head, the sharper the later."""
        distance = np.abs((keys - 1 - np.arange(queries))[:, None] - np.arange(keys)[None])
        scores = -distance[None, None] * (0.02 * self.step) / (1 + np.arange(heads))[None, :, None, None]
        scores = np.repeat(scores, layers, axis=0)
        scores = np.where(np.tril(np.ones((queries, keys), bool)) | (queries != keys), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.asarray(weights / weights.sum(-1, keepdims=True), dtype=np.float32)

    def sample(self, row: int) -> Sample:
        n = self.config.seq_len
        digits = [(3 * position + row * 5) % 10 for position in range(n)]
        whole = [str(d) for d in digits + digits[::-1]]
        targets = ["" if position < n - 1 else token for position, token in enumerate(whole[1:])]
        wrong = 0 if self.step > 80 else row + 1
        guesses = [token if position % 4 >= wrong else "0" for position, token in enumerate(targets)]
        source = [str(d) for d in digits] if self.config.family == "encoder_decoder" else []
        return Sample(whole[:-1], targets, [g if t else "" for g, t in zip(guesses, targets, strict=True)], source)


def table(length: int, d_model: int) -> np.ndarray:
    """A sinusoidal table [position, d_model]."""
    frequency = 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(length)[:, None] * frequency[None]
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, -1)[:, :d_model]


def similarity(length: int) -> np.ndarray:
    rows: Any = table(length, 32)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows @ rows.T)
