from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from engine.config.run_config import RunConfig, settings_for
from engine.estimate.layout import metric_names
from engine.estimate.recording import interim_size
from engine.estimate.warnings import knows_offsets_only, leak_of, warm_up_never_ends
from engine.runs.events import Event, Failed, Finished, Progress, Started
from engine.runs.summary import clearly_above, run_summary
from engine.tasks import TASKS
from engine.tasks.base import SymbolSettings

# the least change of accuracy, or of the loss in nats, from the middle third of a run to its last that counts as a slope;
# repeated validations of a finished model differ by less
SLOPE = 0.03


@dataclass(frozen=True)
class NextStep:
    reason: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # empty if there is only an issue to read
    issue: str = ""

    def label(self, config: RunConfig) -> str:
        encoding = str(self.changes.get("pos_encoding", config.pos_encoding))
        rows = {row.name: row for row in settings_for(config.task, encoding)}
        return ", ".join(f"{rows[name].label} {rows[name].words(value)}" for name, value in self.changes.items())


def next_step(config: RunConfig, events: Iterable[Event]) -> NextStep | None:
    """The most useful next step of a run that has finished or failed; None for others."""
    rows = list(events)
    failed = next((event for event in rows if isinstance(event, Failed)), None)
    if failed is not None:
        return _after_failure(config, failed)
    if not any(isinstance(event, Finished) for event in rows):
        return None
    if config.mask_fault != "none" or config.softmax_axis != "key":
        return _without_fault(config)
    remarks = run_summary(config, rows)
    # With fresh sequences in each step there is nothing to overfit: a gap is noise of a rate that is too high.
    repeats = config.dataset_size is not None or TASKS[config.task].corpus
    if repeats and any(remark.overfitting for remark in remarks):
        changes = {} if config.dropout else {"dropout": 0.1}
        return NextStep("Dropout may close the gap.", changes, "overfitting-depth")
    learned = any(remark.kind == "success" for remark in remarks)
    return _after_success(config) if learned else _after_no_success(config, rows)


def _without_fault(config: RunConfig) -> NextStep:
    mask = config.mask_fault != "none"
    right, issue = ("the correct mask", "missing-mask") if mask else ("the softmax over the keys", "")
    changes = {"mask_fault": "none"} if mask else {"softmax_axis": "key"}
    if leak_of(config):
        return NextStep(f"With {right} the score means something again.", changes, issue)
    return NextStep(f"Does {right} change anything here? Put it back and compare.", changes, issue)


def _after_failure(config: RunConfig, failed: Failed) -> NextStep | None:
    issue = "no-normalization" if config.norm == "none" else ""
    if failed.remedy:
        name, _, value = failed.remedy.partition("=")
        return NextStep("This one change prevented the failure when it was tried.", {name: value}, issue)
    reason = "Would normalisation keep the values finite? Put it back and see."
    return NextStep(reason, {"norm": "pre"}, issue) if issue else None


def _after_no_success(config: RunConfig, rows: Sequence[Event]) -> NextStep:
    if sentence := warm_up_never_ends(config):
        return NextStep(sentence, {"warmup_steps": config.steps // 10}, "warm-up-and-qk-norm")
    if (missing := _missing_part(config)) is not None:
        return missing
    name = metric_names(config)[0]
    curve = [
        (event.step, event.validation.get(name, 0.0), event.validation.get("loss", 0.0))
        for event in rows
        if isinstance(event, Progress) and event.validation is not None
    ]
    chance = next((event.chance.get(name, 0.0) for event in rows if isinstance(event, Started)), 0.0)
    above = clearly_above(curve[-1][1], chance, interim_size(config))
    far_off = next(_far_off(config), None)
    thirds = [[row for row in curve if low < 3 * row[0] / curve[-1][0] <= low + 1] for low in (1, 2)]
    if not all(thirds):  # a run of one or two steps
        return NextStep("This run is too short to show a slope. Give it more steps.", {"steps": 3 * config.steps})
    (before, loss_before), (after, loss_after) = ([fmean(row[i] for row in third) for i in (1, 2)] for third in thirds)
    rises = after - before > SLOPE
    if (rises or (loss_before - loss_after > SLOPE and after - before > -SLOPE)) and (above or far_off is None):
        reason = f"Accuracy still rises ({before:.2f} to {after:.2f})" if rises else "The loss still falls"
        reason += "" if rises else f" ({loss_before:.2f} to {loss_after:.2f})"
        return NextStep(f"{reason}. Give it more steps.", {"steps": 3 * config.steps})
    if far_off is not None:
        return far_off
    if before - after > SLOPE:
        reason = f"Accuracy falls again ({before:.2f} to {after:.2f}). A lower rate may keep it."
        return NextStep(reason, {"learning_rate": float(f"{config.learning_rate / 3:.1g}")})
    flat = f"The curve is flat at {after:.2f}."
    if config.architecture.attends and config.n_layers == 1:
        return NextStep(f"{flat} Does a second layer help?", _deeper(config), "what-depth-brings")
    return NextStep(f"{flat} Does another seed do better?", {"seed": config.seed + 1})


def _missing_part(config: RunConfig) -> NextStep | None:
    if not config.architecture.attends:
        return None
    if not config.skips:
        reason = "Do the skip connections matter here? Put them back and compare."
        return NextStep(reason, {"skips": True}, "missing-skips")
    if config.norm == "none":
        reason = "Does the normalisation matter here? Put it back and compare."
        return NextStep(reason, {"norm": "pre"}, "no-normalization")
    if config.pos_encoding == "nope":
        reason = "Does it need to know the positions? Give it an encoding and compare."
        return NextStep(reason, {"pos_encoding": "learned"}, "no-encoding")
    beyond = config.task_settings.beyond_offsets(config)
    if beyond and knows_offsets_only(config):
        if config.n_layers == 1 and config.task_settings.beyond_offsets(config.replace(n_layers=2)) is None:
            return NextStep(f"{beyond} A second layer does better, with time.", _deeper(config), "no-encoding")
        return NextStep(beyond, {"pos_encoding": "learned"}, "no-encoding")
    warned = len(list(config.task_settings.warnings(config)))
    for depth in range(config.n_layers + 1, min(config.n_layers + 8, 48) + 1):
        if len(list(config.task_settings.warnings(config.replace(n_layers=depth)))) < warned:
            return NextStep("Models that learned this task had more layers.", {"n_layers": depth}, "what-depth-brings")
    return None


def _far_off(c: RunConfig) -> Iterator[NextStep]:
    """Settings far from those known to learn, the likeliest cause first, each with the value that learns.

    Each was tried on Reverse, with the other settings at their defaults: at the bound here, or beyond it, a run stays at chance or
    far below its goal, and with the change it learns (``tests/engine/runs/test_next_step.toml``).
    """
    attends, rate, clip = c.architecture.attends, c.learning_rate, c.grad_clip
    good = 0.01 if c.n_layers == 1 else 0.003
    if c.optimizer == "sgd":
        if clip is not None and clip < 0.1 <= rate:
            yield NextStep(f"Clipping at {clip:g} shortens every step of SGD.", {"grad_clip": 1.0})
        elif rate < 0.1:
            yield NextStep(
                f"SGD moves little at a rate of {rate:g}. AdamW gives each weight its own step.", {"optimizer": "adamw"}
            )
    elif attends and c.norm == "post" and c.n_layers >= 6 and rate > 0.001:
        reason = f"Post-LN in {c.n_layers} layers fails at a rate of {rate:g}. Pre-LN does not."
        yield NextStep(reason, {"norm": "pre"}, "warm-up-and-qk-norm")
    elif rate >= 0.05 or rate <= 1e-4:
        far = "high" if rate >= 0.05 else "low"
        yield NextStep(
            f"The rate {rate:g} is too {far} here. Models of this size learn at {good:g}.", {"learning_rate": good}
        )
    if c.dropout >= 0.7:
        yield NextStep(f"Dropout of {c.dropout:g} leaves too little of each vector.", {"dropout": 0.0})
    if c.label_noise >= 0.8:
        yield NextStep(f"With label noise {c.label_noise:g}, most training answers are random.", {"label_noise": 0.0})
    if attends and c.residual_scale < 0.01:
        yield NextStep(
            f"With a residual scale of {c.residual_scale:g} no layer adds anything.", {"residual_scale": 1.0}
        )
    if c.tie_embeddings and c.token_init_std > 0.5:
        reason = f"Tied embeddings that start at {c.token_init_std:g} make very large logits."
        yield NextStep(reason, {"token_init_std": 0.1})
    if attends and c.randomized_positions >= 16:
        reason = f"Positions from a range {c.randomized_positions} times as long are each seen rarely."
        yield NextStep(reason, {"randomized_positions": 1})
    if c.d_model < 8:
        yield NextStep(f"{c.d_model} numbers per token are too few.", {"d_model": 32})
    elif attends and c.head_width < 2:
        yield NextStep("A head that compares single numbers can hardly choose.", {"d_head": None})
    settings = c.task_settings
    if isinstance(settings, SymbolSettings) and settings.vocab_size < 4 < (usual := type(settings)().vocab_size):
        yield NextStep(f"With {settings.vocab_size} symbols, different positions look the same.", {"vocab_size": usual})


def _deeper(config: RunConfig) -> dict[str, Any]:
    # reversing six symbols with RoPE then ends at .77 to .91 instead of .51
    heads = max(4, config.n_heads)
    shared = config.kv_heads if heads % config.key_heads == 0 else None
    wanted = {"n_layers": 2, "n_heads": heads, "kv_heads": shared, "steps": max(1000, config.steps)}
    settings = config.flat()
    return {name: value for name, value in wanted.items() if settings[name] != value}


def _after_success(config: RunConfig) -> NextStep | None:
    if not config.architecture.attends:
        return None
    if config.pos_encoding != "nope":
        return NextStep("Does it need the positions? Remove the encoding.", {"pos_encoding": "nope"}, "no-encoding")
    reason = "It works without an encoding. Does it also work in an encoder, without a mask?"
    return NextStep(reason, issue="no-encoding")
