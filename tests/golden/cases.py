"""The configs that the golden record covers: together they name every encoding, task and family."""

from itertools import cycle
from typing import Any

from engine.architectures import ARCHITECTURES
from engine.config.run_config import parse_leniently
from engine.encodings import ENCODINGS
from engine.settings.fields import to_text
from engine.tasks import TASKS

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "batch_size": 8, "steps": 12, "device": "cpu"}
VARIATIONS: tuple[dict[str, Any], ...] = (
    {"dropout": 0.1, "norm": "post", "attention_impl": "materialised", "test_lengths": "4,8"},
    {"optimizer": "muon", "schedule": "cosine", "weight_decay": 0.1, "share_layers": True},
    {"min_seq_len": 4, "seq_len": 8, "length_decay": 0.7, "attention_score": "cosine"},
    {"dataset_size": 100, "label_noise": 0.1, "norm": "none", "grad_clip": "auto", "learning_rate": 0.001},
    {"pretrain_steps": 4, "randomized_positions": 3, "activation": "relu", "optimizer": "sgd"},
    {"mask_fault": "off_by_one", "dtype": "bfloat16", "residual_scale": 0.5, "warmup_steps": 0},
)


def configs() -> dict[str, dict[str, Any]]:
    """Flat settings by name: every encoding on a task and family that take it in turn, then the tasks, families and
    variations that did not come up, then the presets, all of them small."""
    cases: dict[str, dict[str, Any]] = {}

    def add(name: str, flat: dict[str, Any]) -> None:
        cases[name] = parse_leniently({**SMALL, **flat})[0].flat()

    families = cycle(name for name, row in ARCHITECTURES.items() if row.attends)
    tasks = cycle(TASKS)
    for encoding in ENCODINGS:
        family, task = next(families), next(tasks)
        while ARCHITECTURES[family].reads_as not in TASKS[task].architectures:
            task = next(tasks)
        add(f"{encoding} on {task} in {family}", {"pos_encoding": encoding, "task": task, "family": family})
    for task in TASKS:
        if not any(flat["task"] == task for flat in cases.values()):
            add(f"{task}", {"task": task, "family": TASKS[task].architectures[0], "pos_encoding": "rope"})
    for family in ARCHITECTURES:
        if not any(flat["family"] == family for flat in cases.values()):
            add(f"{family}", {"family": family, "task": "k_back"})
    for number, variation in enumerate(VARIATIONS):
        add(f"variation {number}", {"task": "k_back" if "label_noise" in variation else "reverse", **variation})
    return {name: {key: to_text(value) for key, value in flat.items()} for name, flat in cases.items()}
