"""The summary of a run in sentences, all computed from its events; of a language model also the step at which it passed the
counting models."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import exp, inf
from typing import Literal

from engine.config.run_config import RunConfig
from engine.estimate.layout import VALIDATION_SIZE, metric_names, shapes, writes_answer
from engine.estimate.recording import interim_size
from engine.estimate.warnings import leak_of
from engine.foundation.formatting import counted, fine_percent, in_digits, in_time, percent
from engine.runs.events import Ended, Event, Failed, Finished, Progress, Started
from engine.tasks.text import TextSettings

LEARNED_ACCURACY = 0.99
WORSE = 0.05  # the accuracy lost when the model reads its own output, from which a success is called false
GAP = 0.2  # the least difference of validation and training loss, in nats, that is mentioned
MANY_UNKNOWN = 0.15  # the share of unknown tokens in a held-out text above which a loss over it says little


@dataclass(frozen=True)
class Remark:
    kind: Literal["success", "alarm", "note"]
    sentence: str
    overfitting: bool = False  # it says that the validation loss is above the training loss
    learned: Literal[-1, 0, 1] | None = None  # on a finished run's task: 1 learned, 0 in part, -1 not


def run_summary(config: RunConfig, events: Iterable[Event]) -> list[Remark]:
    rows = list(events)
    failed = next((event for event in rows if isinstance(event, Failed)), None)
    if failed is not None:
        return [Remark("alarm", failed.reason, learned=-1)]
    started = next((event for event in rows if isinstance(event, Started)), None)
    measured = [event for event in rows if isinstance(event, Progress) and event.validation is not None]
    if started is None or not measured:
        return []
    finished = next((event for event in rows if isinstance(event, Finished)), None)
    # With a leak, a good score only shows the leak: the summary then does not mention learning.
    leak = _leak(config, started, measured, finished)
    # Only a finished run shows whether its task is learned.
    learned = (
        _learning(config, started, measured, finished) if finished else _until_now(config, started, measured, rows)
    )
    return [*(leak or _of_text(config, measured, learned)), *_gap(measured)]


def unknown_tokens(config: RunConfig, scores: Mapping[str, float]) -> str:
    """The share of unknown tokens in a held-out text, and its meaning for the ``scores`` of a model there; empty if there are none.

    ``scores``: measured on the text; ``known_accuracy`` and ``known_perplexity`` over its known tokens, if measured.
    """
    settings, share = config.task_settings, scores.get("unknown_share")
    if not isinstance(settings, TextSettings) or not share or not math.isfinite(share):
        return ""
    ways = {"accuracy": fine_percent, "perplexity": in_digits}
    known = {name: scores.get(f"known_{name}", math.nan) for name in ways}
    over = [f"{name} is {ways[name](value)}" for name, value in known.items() if math.isfinite(value)]
    sentence = f"{fine_percent(share)} of the held-out tokens are unknown, that is, not in the vocabulary"
    sentence += f"; over the others {' and '.join(over)}." if over else "."
    if share <= MANY_UNKNOWN:
        return sentence
    better = {
        "words": "characters are the better unit (task shakespeare_chars)",
        "characters": "take a larger vocab_size",
    }
    return f"{sentence} This makes tokens easy to guess, so the loss over all says little: {better[settings.unit]}."


def _of_text(config: RunConfig, measured: list[Progress], learned: list[Remark]) -> list[Remark]:
    scores = measured[-1].validation or {}
    if not (sentence := unknown_tokens(config, scores)):
        return learned
    # then nothing counts as learned
    if scores["unknown_share"] > MANY_UNKNOWN:
        return [Remark("note", sentence), *(replace(remark, kind="note") for remark in learned)]
    return [*learned, Remark("note", sentence)]


def clearly_above(value: float, chance: float, sequences: int = VALIDATION_SIZE) -> bool:
    return value > above_chance(chance, sequences)


def above_chance(chance: float, sequences: int = VALIDATION_SIZE) -> float:
    """The accuracy on that many held-out sequences up to which sampling noise may explain it (5 sigma)."""
    return chance + 5 * math.sqrt(chance * (1 - chance) / sequences)


def _leak(config: RunConfig, started: Started, measured: list[Progress], finished: Finished | None) -> list[Remark]:
    """None if the model sees no answer, or learns nothing even so."""
    why, last, metrics = leak_of(config), measured[-1].validation or {}, finished.metrics if finished else {}
    name, label = _main_metric(config)
    read, written = last.get(name, 0.0), metrics.get("written_accuracy")
    remarks = []
    if why and clearly_above(read, started.chance.get(name, 0.0)):
        if written is None:
            sentence = f"Held-out {label} is {read:.2f}. This score says nothing about learning: {why}."
            remarks.append(Remark("alarm", sentence))
        elif written < read - WORSE:
            remarks.append(_false_success(config, last, metrics, why))
        else:
            harm = "no" if f"{written:.2f}" == f"{read:.2f}" else "little"
            sentence = f"{_read_and_written(config, last, metrics)} Here the leak did {harm} harm. With another seed it may: {why}."
            remarks.append(Remark("note", sentence))
    value, chance = last.get("first_half_accuracy"), started.chance.get("first_half_accuracy")
    if value is not None and chance is not None and clearly_above(value, chance):
        sentence = (
            f"First-half accuracy is {value:.2f}, chance is {chance:.3g}. The first half is random, so no model can know it "
            f"in advance. But {why or 'the model sees what it must predict'}."
        )
        remarks.append(Remark("alarm", sentence))
    return remarks


def _false_success(config: RunConfig, read: Mapping[str, float], metrics: Mapping[str, float], why: str) -> Remark:
    both = _read_and_written(config, read, metrics)
    return Remark("alarm", f"False success. {both} Only the second number counts: {why}.")


def _read_and_written(config: RunConfig, read: Mapping[str, float], metrics: Mapping[str, float]) -> str:
    name, label = _main_metric(config)
    given, unseen = f"{read.get(name, math.nan):.2f}", f"{metrics['written_accuracy']:.2f}"
    also = "also " if given == unseen else ""
    if "perplexity" in read and "written_loss" in metrics:
        given += f" (perplexity {in_digits(read['perplexity'])})"
        unseen += f" (perplexity {in_digits(exp(min(metrics['written_loss'], 700)))})"
    if writes_answer(config):
        return f"With the right answers as input, {label} is {given}. On its own output it is {also}{unseen}."
    return f"With the later symbols in sight, {label} is {given}. Without them it is {also}{unseen}."


def _until_now(config: RunConfig, started: Started, measured: list[Progress], rows: list[Event]) -> list[Remark]:
    ending = next((event for event in rows if isinstance(event, Ended)), None)
    what = "is" if ending is None else "was stopped" if ending.state == "stopped" else "was lost"
    at = max(event.step for event in rows if isinstance(event, Progress))
    name, label = _main_metric(config)
    value = (measured[-1].validation or {}).get(name, math.nan)
    sentence = (
        f"This run {what} at step {at:,} of {config.steps:,}. Its last validation was at step {measured[-1].step:,}: "
        f"{label} was {value:.2f}, chance is {started.chance.get(name, 0.0):.3g}."
    )
    return [Remark("note", sentence)]


def _main_metric(config: RunConfig) -> tuple[str, str]:
    name = metric_names(config)[0]
    return name, name.replace("_", "-").replace("-accuracy", " accuracy")


def _learning(config: RunConfig, started: Started, measured: list[Progress], finished: Finished) -> list[Remark]:
    name, label = _main_metric(config)
    values = [(event.step, (event.validation or {}).get(name, 0.0)) for event in measured]
    step, value = values[-1]
    reached = next((at for at, accuracy in values if accuracy >= LEARNED_ACCURACY), None)
    written = finished.metrics.get("written_accuracy")
    misled = written is not None and written < value - WORSE
    if reached is not None and value >= LEARNED_ACCURACY:
        if misled:
            why = "one mistake may lead to the next, or the model sees what it must predict"
            return [_false_success(config, measured[-1].validation or {}, finished.metrics, why)]
        sentence = (
            f"Learned: at step {reached:,}, {100 * LEARNED_ACCURACY:.0f} of 100 answers on new sequences were right ({label}); "
            f"at the end {percent(value)}."
        )
        return [Remark("success", sentence, learned=1)]
    chance = started.chance.get(name, 0.0)
    best = max(accuracy for _, accuracy in values)
    steps = counted(step, "step")
    learned: Literal[-1, 0] = 0
    if reached is not None:
        sentence = f"Held-out {label} reached {best:.3f} but fell back to {value:.3f} by step {step:,}."
    elif not clearly_above(best, chance, interim_size(config)):
        learned = -1
        sentence = f"Not learned in {steps}: {label} is {value:.2f}, chance is {chance:.3g}."
    else:
        sentence = f"Learned in part: {label} is {value:.2f} after {steps}; chance is {chance:.3g}."
        if misled:
            sentence += f" On its own output it is {written:.2f}: one mistake may lead to the next."
    return [Remark("note", sentence, learned=learned)]


def _gap(measured: list[Progress]) -> list[Remark]:
    recent = measured[-5:]
    gap = sum((event.validation or {}).get("loss", math.nan) - event.loss for event in recent) / len(recent)
    sentence = f"Validation loss is {gap:.2f} nats above training loss: the model fits its training sequences better than new ones."
    return [Remark("note", sentence, overfitting=True)] if gap > GAP else []


@dataclass(frozen=True)
class CountingComparison:
    name: str
    nats: float  # the counting model's loss
    # the first validated step at which the run's loss was below the counting model's, if any
    step: int | None
    seconds: float | None  # training up to that step, without the time of validation
    last_step: int
    last: float  # the loss of that validation, in nats
    leak: bool = False  # the run's score leaks (engine.estimate.warnings.leak_of)
    unseen: float | None = None  # the loss with the leak closed, in nats; None if it was not measured

    @property
    def better(self) -> bool:
        return not self.leak and self.last < self.nats and not self._same

    @property
    def _same(self) -> bool:
        return _perplexity(self.last) == _perplexity(self.nats)

    @property
    def sentence(self) -> str:
        compared = f"{_perplexity(self.last)} against {_perplexity(self.nats)}"
        if self.leak:
            hidden = "" if self.unseen is None else f" With the later symbols hidden it is {_perplexity(self.unseen)}."
            return f"The score leaks, so perplexity {compared} is no fair comparison with {self.name}.{hidden}"
        if self._same:
            return f"After {self.last_step:,} steps it guesses as well as {self.name} (perplexity {compared})."
        if self.step is None or self.seconds is None:
            return f"After {self.last_step:,} steps it guesses worse than {self.name} (perplexity {compared})."
        since = f"After {self.step:,} steps ({in_time(self.seconds)}) it guessed better than {self.name}"
        return (
            f"{since} ({'now perplexity' if self.last < self.nats else 'but now worse again: perplexity'} {compared})."
        )


def _perplexity(nats: float) -> str:
    return in_digits(exp(min(nats, 700)))


def counting_comparisons(
    config: RunConfig, events: Iterable[Event], levels: Mapping[str, float]
) -> list[CountingComparison]:
    """One row for each counting model, in the given order; an empty list before the first validation."""
    rows = list(events)
    checks = [event for event in rows if isinstance(event, Progress) and event.validation is not None]
    if not checks:
        return []
    tokens = config.batch_size * shapes(config).length
    finished = next((event for event in rows if isinstance(event, Finished)), None)
    leak, unseen = bool(leak_of(config)), finished.metrics.get("written_loss") if finished else None
    comparisons = []
    for name, nats in levels.items():
        first = next((check for check in checks if _loss(check) < nats), None)
        seconds = first.step * tokens / first.tokens_per_second if first else None
        last = checks[-1]
        comparisons.append(
            CountingComparison(name, nats, first.step if first else None, seconds, last.step, _loss(last), leak, unseen)
        )
    return comparisons


def _loss(check: Progress) -> float:
    loss = (check.validation or {}).get("loss")
    return inf if loss is None else loss
