"""The board of an experiment as JSON: sections of panels with figure, text and numbers; and the style of findings."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.finding import Finding
from engine.experiments.report import ClaimReport
from engine.experiments.trial import Curve, Trial
from engine.foundation.formatting import counted, in_time
from engine.serving.processes.machines import host_of
from pages.parts.boards.component import Json
from pages.parts.charts.base import figure_json
from pages.parts.charts.experiments.arms import metric_label, role_color
from pages.parts.charts.experiments.curves import Frame, StopMark, curves_figure, frame_of
from pages.parts.charts.experiments.strip import effect_figure, effect_height
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, TrialSoFar, final_section, levels_of

CURVE_HEIGHT = 176
VALIDATION = "validation.loss"
MAX_NAMED_TRIALS = 4  # running trials that the status line names, at most


def sections(curve: str, snapshot: ExperimentSnapshot) -> list[Json]:
    if snapshot.state != "running" and not snapshot.trials:
        return []  # stopped before any trial ended: nothing to show
    curves = [_curves(snapshot, curve)] if snapshot.has_curves else []
    parts = [*curves, final_section(snapshot), claims_section(snapshot)]
    return [section for section in parts if section["panels"]]


def status(snapshot: ExperimentSnapshot, name_of: Callable[[str], str] = str) -> Json:
    words = status_words(snapshot, name_of)
    return {
        "state": snapshot.state,
        "share": round(snapshot.share_done, 4),
        "words": words,
        "problem": snapshot.problem,
    }


def status_words(snapshot: ExperimentSnapshot, name_of: Callable[[str], str] = str) -> str:
    if snapshot.state == "none":
        return ""
    if snapshot.state in ("waiting", "class"):
        return "each seed is a dot" if snapshot.trials else "each seed will be a dot"
    # Stored evidence may lack some arms.
    arms = {trial.arm for trial in snapshot.trials} if snapshot.state == "shipped" else snapshot.arms
    trials_by_seed = Counter(trial.seed for trial in snapshot.trials)
    seeds = f"{list(trials_by_seed.values()).count(len(arms))} of {counted(len(snapshot.seeds), 'seed')}"
    if snapshot.state == "running":
        parts = (
            [f"{len(snapshot.trials)} of {counted(len(arms) * len(snapshot.seeds), 'training run')}"]
            if snapshot.trials
            else []
        )
        positions = [trial.queue_position for trial in snapshot.running if trial.queue_position]
        if positions and len(positions) == len(snapshot.running):
            parts.append(f"waiting for a worker, place {min(positions)} in the queue")
        elif snapshot.seconds_left is not None:
            parts.append(f"about {in_time(snapshot.seconds_left)} left")
        return " · ".join(
            parts + ([f"now {_now(snapshot.running, name_of)}"] if snapshot.running and not positions else [])
        )
    if not snapshot.trials:
        return f"{seeds}: no measurement"
    return f"{seeds} ({snapshot.seed_range}) · {in_time(snapshot.seconds)}"


def _now(running: Sequence[TrialSoFar], name_of: Callable[[str], str]) -> str:
    names = " and ".join(f"“{name_of(trial.arm)}”, seed {trial.seed}" for trial in running)
    now = names if len(running) <= MAX_NAMED_TRIALS else f"{len(running)} at once"
    hosts = sorted({host_of(trial.machine) for trial in running if trial.machine})
    if not hosts:
        return now
    return f"{now} on {hosts[0] if len(hosts) == 1 else counted(len(hosts), 'machine')} of the cluster"


# Training curves


def _curves(snapshot: ExperimentSnapshot, curve: str) -> Json:
    label, both = curve_label(snapshot.experiment, curve), shows_both(snapshot.experiment, curve)
    by_arm = {arm.name: [t for t in snapshot.trials if t.arm == arm.name] for arm in snapshot.arms}
    running = {arm.name: [g for g in snapshot.running if g.arm == arm.name] for arm in snapshot.arms}
    levels = {name: levels_of(trials, curve) for name, trials in by_arm.items()}
    drawn = [curve, VALIDATION] if both else [curve]
    sound: list[Trial | TrialSoFar] = [*(trial for trial in snapshot.trials if not trial.failure), *snapshot.running]
    # Trials that broke off would stretch the axis.
    framed = sound or snapshot.trials
    all_curves = [trial.curves.get(name, []) for trial in framed for name in drawn]
    frame = frame_of(label, all_curves, [value for by_name in levels.values() for value in by_name.values()])
    of_arm = ((arm, by_arm[arm.name], running[arm.name], levels[arm.name]) for arm in snapshot.trained_arms)
    panels = [_curve_panel(snapshot, *parts, curve, frame) for parts in of_arm]
    unit = " (nats)" if label.endswith("loss") else ""
    note = f"{label.capitalize()}{unit} over the steps. Thin: one seed each. Bold: their mean. All share one axis."
    note += " Training solid, validation dashed." if both else ""
    return {"id": "curves", "title": "Training curves", "note": note, "panels": panels, "width": 250}


def curve_label(experiment: Experiment, curve: str) -> str:
    if shows_both(experiment, curve):
        return "training and validation loss"
    return "training loss" if curve == "loss" else metric_label(curve)


def shows_both(experiment: Experiment, curve: str) -> bool:
    """True if validation losses join the training losses: the experiment measures the gap between them."""
    return curve == "loss" and any(arm.metric == "gap" for arm in experiment.arms)


def stop_of(trials: Sequence[Trial], curve: str = "loss") -> StopMark | None:
    """The last step of each trial that broke off, or the end of its curve; None without such trials."""
    failures = [trial for trial in trials if trial.failure]
    if not failures:
        return None
    ends = {trial.seed: trial.curves.get(curve) or [(0, 0.0)] for trial in failures}
    messages = [trial.failure.rstrip(".") for trial in failures]
    reasons = dict.fromkeys("not a finite number" if "finite" in message else message for message in messages)
    steps = {trial.seed: int(trial.numbers.get("failed_step", ends[trial.seed][-1][0])) for trial in failures}
    return StopMark(steps, "; ".join(reasons))


def _curve_panel(
    snapshot: ExperimentSnapshot, arm: Arm, trials: Sequence[Trial], running: Sequence[TrialSoFar], levels: dict[str, float], curve: str,
    frame: Frame,
) -> Json:  # fmt: skip
    done, so_far = _by_seed(trials, curve), _by_seed(running, curve)
    dashed = _by_seed(trials, VALIDATION), _by_seed(running, VALIDATION)
    stopped = stop_of(trials, curve)
    steps = snapshot.experiment.config(arm).steps
    failures = [trial for trial in trials if trial.failure]
    return {
        "id": f"curves.{arm.name}", "title": arm.name, "chip": arm.role, "tone": role_color(arm.role), "height": CURVE_HEIGHT,
        "words": f"{len(trials)} of {counted(len(snapshot.seeds), 'seed')}" + (f", {len(failures)} did not finish" if failures else ""),
        "alt": f"{frame.label} of {arm.name}: {_ends_in_words(done)}" + (f", {stopped.sentence}" if stopped else ""),
        "figure": figure_json(
            curves_figure, done, so_far, frame, steps, role_color(arm.role), levels, stopped=stopped,
            dashed=dashed if shows_both(snapshot.experiment, curve) else None,
        ),
    }  # fmt: skip


def _by_seed(trials: Sequence[Trial | TrialSoFar], curve: str) -> dict[int, Curve]:
    return {trial.seed: trial.curves.get(curve, []) for trial in trials}


def _ends_in_words(curves: dict[int, list[tuple[int, float]]]) -> str:
    ends = [curve[-1][1] for curve in curves.values() if curve]
    if not ends:
        return "no seed has ended yet"
    return f"{len(ends)} seeds ended, at {fmean(ends):.3g} on average, from {min(ends):.3g} to {max(ends):.3g}"


# Findings and claims


Color = Literal["gray", "blue", "green", "orange", "red"]
FINDING_STYLES: dict[Finding, tuple[str, Color]] = {
    Finding.HOLDS: (":material/check_circle:", "green"),
    Finding.OPPOSITE: (":material/swap_horiz:", "red"),
    Finding.SMALL: (":material/drag_handle:", "orange"),
    Finding.CANNOT_TELL: (":material/visibility_off:", "gray"),
    Finding.UNDECIDED: (":material/help:", "gray"),
}
ABOUT = {"issue": "the claim", "condition": "a condition", "remedy": "a remedy"}


def badge(finding: Finding, words: str) -> str:
    icon, color = FINDING_STYLES[finding]
    return f":{color}-badge[{icon} {words}]"


def claims_section(snapshot: ExperimentSnapshot) -> Json:
    panels = [_claim_panel(snapshot, claim) for claim in snapshot.claims]
    return {
        "id": "claims", "title": "Effect for each claim",
        "note": "Dot and whiskers: mean effect and its 95 % interval. Ticks: seeds. Shaded: effects large enough to count.",
        "panels": panels, "width": 420,
    }  # fmt: skip


def _claim_panel(snapshot: ExperimentSnapshot, claim_report: ClaimReport) -> Json:
    claim, row = claim_report.claim, claim_report.weighed
    facts = _facts_of(claim_report)
    lines = [f"Setting: {claim.condition}"] if claim.condition else []
    if row.finding is Finding.CANNOT_TELL:
        lines.append(f"Why: {row.why}")
    chip, tone = "Waiting for seeds", ""  # no tone before there is a finding
    if snapshot.state != "running":
        chip, tone = (row.words, row.finding) if row.seeds else ("Not measured", "")
    elif row.seeds > 1:
        chip, tone = f"So far: {row.finding.words.lower()}", row.finding
    return {
        "id": f"claim.{claim.id}", "title": claim.sentence, "chip": chip, "chip_tone": tone,
        "kind": f"{ABOUT[claim.about]}, computed" if claim.computed else ABOUT[claim.about],
        "height": effect_height(claim.unit), "lines": lines,
        "facts": facts,
        "alt": f"{claim.sentence} {chip}. " + ", ".join(facts),
        "figure": figure_json(
            effect_figure, claim_report.effects, row.effect, row.ci, claim.smallest_effect, claim.direction, claim.unit
        ),
    }  # fmt: skip


def _facts_of(claim_report: ClaimReport) -> list[str]:
    claim, row = claim_report.claim, claim_report.weighed
    sign = "" if claim.direction == "more" else "−"
    effect = [] if row.effect is None else [f"effect {signed(row.effect)} {claim.unit}"]
    return [*effect, f"counts from {sign}{claim.smallest_effect:g}", counted(row.seeds, "seed")]


def signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")
