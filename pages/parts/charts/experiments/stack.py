"""An SVG of an experiment's model: the stack from task to answer, with the parts that arms change."""

from html import escape

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.experiments.experiment import Arm, Experiment
from engine.settings.architectures import ARCHITECTURES
from engine.settings.fields import Setting
from engine.tasks import TASKS
from pages.parts.charts.experiments.arms import ROLE_COLORS, goes_without_saying

BY_NAME = {
    "norm": "norm", "norm_kind": "norm", "depth_scale": "norm", "skips": "skip", "residual_scale": "skip", "mlp": "mlp",
    "activation": "mlp", "d_ff": "mlp",
    "n_heads": "attention", "d_head": "attention", "family": "attention", "n_layers": "stack", "share_layers": "stack",
    "d_model": "stack", "dropout": "stack",
}  # fmt: skip
BY_GROUP = {
    "Task": "task", "Data": "task", "Encoding": "positions", "Attention": "attention", "Faults": "attention",
    "Block": "stack", "Shape": "stack", "Training": "training",
}  # fmt: skip
OPTIMIZERS = {"adamw": "AdamW", "sgd": "SGD", "muon": "Muon"}
WIDTH, LEFT, BOX, HIGH, TOP = 408, 38, 190, 30, 14
MAX_LABEL_LETTERS = 19


def part_of(setting: Setting) -> str:
    return BY_NAME.get(setting.name) or BY_GROUP.get(setting.group, "stack")


def touched(experiment: Experiment) -> dict[str, tuple[str, list[str]]]:
    """By part: the colour of the first arm that changes it, and the labels of its settings. Tuned rates do not count."""
    by_part: dict[str, tuple[str, list[str]]] = {}
    untuned = experiment.untuned()
    for arm in experiment.arms:
        for setting, there, here in untuned.changes(arm):
            if goes_without_saying(setting, there, here):
                continue
            _, labels = by_part.setdefault(part_of(setting), (ROLE_COLORS[arm.role], []))
            if setting.label not in labels:
                labels.append(setting.label)
    return by_part


def stack_svg(experiment: Experiment) -> str:
    config, marks = _config_to_draw(experiment), touched(experiment)
    rows = _rows(config)
    names, parts = [part for part, _ in rows], []
    for index, (part, text) in enumerate(rows):
        y = TOP + index * (HIGH + TOP)
        parts.append(_box(y, text, marks.get(part), named=names.index(part) == index))
        if index + 1 < len(rows):
            parts.append(_arrow(y + HIGH, y + HIGH + TOP))
    block = [index for index, part in enumerate(names) if part in ("norm", "attention", "skip", "mlp")]
    y0, y1 = TOP + block[0] * (HIGH + TOP) - 7, TOP + block[-1] * (HIGH + TOP) + HIGH + 7
    height = TOP + len(rows) * (HIGH + TOP)
    parts.insert(0, _frame(y0, y1 - y0, f"× {config.n_layers}", marks.get("stack")))
    words = "; ".join(f"{', '.join(labels)} at the {part}" for part, (_, labels) in marks.items()) or "nothing"
    title = f"The model as a stack of boxes, from task to answer. The arms change: {words}."
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}" '
        f'style="display:block;width:100%;max-width:{WIDTH}px;margin:0 auto" font-size="16" fill="none">{"".join(parts)}</svg>'
    )


def _config_to_draw(experiment: Experiment) -> RunConfig:
    def fitness(arm: Arm) -> tuple[bool, bool]:
        return ARCHITECTURES[experiment.config(arm).family].attends, arm.role == "control"

    return experiment.config(max(experiment.arms, key=fitness))


def _rows(config: RunConfig) -> list[tuple[str, str]]:
    """The rows from the answer down to the task, against the flow of the data."""
    heads = f"{config.n_heads} head{'s' if config.n_heads > 1 else ''}"
    attention = "Causal attention" if config.family == "decoder" else "Attention"
    norm = [("norm", "RMSNorm" if config.norm_kind == "rms" else "LayerNorm")] if config.norm != "none" else []
    skip = [("skip", "+ skip")] if config.skips else []
    mlp = [("mlp", "MLP")] if config.mlp else []
    layers = [layer for layer in ([("attention", f"{attention}, {heads}")], mlp) if layer]
    pre = config.norm == "pre"
    block = [row for layer in layers for row in ([*norm, *layer, *skip] if pre else [*layer, *skip, *norm])]
    upwards = [
        ("task", TASKS[config.task].label),
        ("positions", f"Tokens + {short_label(ENCODINGS[config.pos_encoding].label)}"),
        *block,
        ("training", f"Loss, {OPTIMIZERS[config.optimizer]}"),
    ]
    return upwards[::-1]


def short_label(label: str) -> str:
    return label if len(label) < 18 else label.split(" (")[0]


def _box(y: int, text: str, mark: tuple[str, list[str]] | None, *, named: bool) -> str:
    color, labels = mark or ("currentColor", [])
    stroke, fill = (2, 0.16) if mark else (1, 0.04)
    box = (
        f'<rect x="{LEFT}" y="{y}" width="{BOX}" height="{HIGH}" rx="7" stroke="{color}" stroke-width="{stroke}" '
        f'stroke-opacity="{1 if mark else 0.45}" fill="{color}" fill-opacity="{fill}"/>'
        f'<text x="{LEFT + BOX / 2}" y="{y + 20}" text-anchor="middle" fill="currentColor">{escape(text)}</text>'
    )
    return box + (_names(y + 20, color, labels) if mark and named else "")


def _names(y: float, color: str, labels: list[str]) -> str:
    names = labels[:2] if len(labels) <= 2 else [labels[0], f"and {len(labels) - 1} more"]
    names = [label if len(label) <= MAX_LABEL_LETTERS else label[: MAX_LABEL_LETTERS - 1] + "…" for label in names]
    start = y - 9 * (len(names) - 1)
    x = LEFT + BOX + 22
    line = f'<path d="M{LEFT + BOX + 4} {y - 4}H{x - 5}" stroke="{color}" stroke-width="2"/>'
    return line + "".join(
        f'<text x="{x}" y="{start + 18 * index}" fill="currentColor" font-weight="600">{escape(label)}</text>'
        for index, label in enumerate(names)
    )


def _arrow(y0: int, y1: int) -> str:
    x = LEFT + BOX / 2
    return f'<path d="M{x} {y1}V{y0 + 3}m-4 4l4 -5l4 5" stroke="currentColor" stroke-opacity="0.5"/>'


def _frame(y: int, height: int, text: str, mark: tuple[str, list[str]] | None) -> str:
    color, labels = mark or ("currentColor", [""])
    one = labels[0] + (f", +{len(labels) - 1}" if len(labels) > 1 else "")
    named = _names(y + height - 2, color, [one]) if mark else ""
    return (
        f'<rect x="{LEFT - 10}" y="{y}" width="{BOX + 20}" height="{height}" rx="10" stroke="{color}" '
        f'stroke-opacity="{1 if mark else 0.45}" stroke-width="{2 if mark else 1}" stroke-dasharray="5 4"/>'
        f'<text x="{LEFT - 15}" y="{y + height / 2 + 4}" text-anchor="end" fill="currentColor" font-weight="600">{escape(text)}</text>'
        + named
    )
