"""What to try after a run: one change of the settings, with the reason, and the issue that is about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.config.run_config import RunConfig, settings_for
from engine.estimate.warnings import knows_offsets_only
from engine.runs.events import Event, Failed, Finished
from engine.runs.summary import run_summary


@dataclass(frozen=True)
class NextStep:
    reason: str
    """One sentence: why this is worth a try."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """The settings to change; none where there is only an issue to read."""
    issue: str = ""
    """The slug of the issue that is about it; empty where there is none."""

    def label(self, config: RunConfig) -> str:
        """The changes in words: "Depth 2"."""
        encoding = str(self.changes.get("pos_encoding", config.pos_encoding))
        rows = {row.name: row for row in settings_for(config.task, encoding)}
        return ", ".join(f"{rows[name].label} {rows[name].words(value)}" for name, value in self.changes.items())


def next_step(config: RunConfig, events: Iterable[Event]) -> NextStep | None:
    """The most useful next step of a run that has finished or failed; None for one that goes on or was stopped."""
    rows = list(events)
    failed = next((event for event in rows if isinstance(event, Failed)), None)
    if failed is not None:
        return _after_failure(config, failed)
    if not any(isinstance(event, Finished) for event in rows):
        return None
    if config.mask_fault != "none":
        return NextStep("With a right mask the score means something again.", {"mask_fault": "none"}, "missing-mask")
    remarks = run_summary(config, rows)
    if any(remark.overfitting for remark in remarks):
        changes = {} if config.dropout else {"dropout": 0.1}
        return NextStep("Dropout may close the gap.", changes, "overfitting-depth")
    learned = any(remark.kind == "success" for remark in remarks)
    return _after_success(config) if learned else _after_no_success(config)


def _after_failure(config: RunConfig, failed: Failed) -> NextStep | None:
    issue = "no-normalization" if config.norm == "none" else ""
    if failed.remedy:
        name, _, value = failed.remedy.partition("=")
        return NextStep("This one change prevented the failure when it was tried.", {name: value}, issue)
    reason = "Would normalisation keep the values finite? Put it back and see."
    return NextStep(reason, {"norm": "pre"}, issue) if issue else None


def _after_no_success(config: RunConfig) -> NextStep:
    if not config.architecture.attends:
        return NextStep("More steps may be enough.", {"steps": 3 * config.steps})
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
            return NextStep(f"{beyond} A second layer gets further, with time.", _deeper(config), "no-encoding")
        return NextStep(beyond, {"pos_encoding": "learned"}, "no-encoding")
    return NextStep("It may still be learning: give it more steps.", {"steps": 3 * config.steps})


def _deeper(config: RunConfig) -> dict[str, Any]:
    """Two layers with four heads and 1,000 steps: reversing six symbols with RoPE then ends at .77 to .91 in place of .51."""
    wanted = {"n_layers": 2, "n_heads": max(4, config.n_heads), "steps": max(1000, config.steps)}
    own = config.flat()
    return {name: value for name, value in wanted.items() if own[name] != value}


def _after_success(config: RunConfig) -> NextStep | None:
    if not config.architecture.attends:
        return None
    if config.pos_encoding != "nope":
        return NextStep("Does it need the positions? Take the encoding away.", {"pos_encoding": "nope"}, "no-encoding")
    reason = "It works without an encoding: does it also in an encoder, which sees all positions alike?"
    return NextStep(reason, issue="no-encoding")
