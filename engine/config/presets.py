"""Prepared configs: a handful that learn, a handful that fail, each with one sentence on what to look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.config.run_config import RunConfig, parse
from engine.settings.fields import Value


@dataclass(frozen=True)
class View:
    """What of the figures a preset's sentence speaks of. Layers and heads count from 0."""

    panel: str
    """The panel that stands beside the loss."""
    which: str = "self"
    """The kind of attention: self, encoder or cross."""
    layer: int = 0
    head: int = 0
    by: str = "layer"
    """How gradient norms are shown: by layer, or of q, k and v ("qkv")."""


@dataclass(frozen=True)
class Preset:
    slug: str
    title: str
    expects: Literal["learns", "fails"]
    """The expected outcome, under which the preset is listed; the run may end otherwise."""
    look_at: str
    settings: dict[str, Value] = field(default_factory=dict)
    view: View = View("accuracy")

    @property
    def config(self) -> RunConfig:
        return parse(self.settings)


PRESETS: dict[str, Preset] = {
    preset.slug: preset
    for preset in (
        Preset(
            "reverse", "Reverse with a learned table", "learns",
            "Look at the attention: in the second half a falling diagonal appears, each position reading its mirror image.",
            view=View("attention"),
        ),
        Preset(
            "three-back", "3 back with RoPE", "learns",
            "Look at the attention: one line parallel to the diagonal, three positions below it.",
            {
                "task": "k_back", "pos_encoding": "rope", "seq_len": 16, "n_layers": 2, "n_heads": 4,
                "learning_rate": 0.003, "test_lengths": (16, 24, 32, 64),
            },
            view=View("attention", layer=1),
        ),
        Preset(
            "translate", "Reverse with an encoder-decoder", "learns",
            "Look at the cross-attention: the decoder walks through the source from its end.",
            {"family": "encoder_decoder", "pos_encoding": "sinusoidal", "seq_len": 8, "steps": 400, "n_heads": 2,
             "learning_rate": 0.003},
            view=View("attention", which="cross"),
        ),
        Preset(
            "sort", "Sort with an encoder", "learns",
            "Look at the attention: it follows what the symbols are, so no fixed diagonal appears.",
            {"task": "sort", "family": "encoder", "n_layers": 2, "n_heads": 4, "steps": 500, "learning_rate": 0.003},
            view=View("attention", layer=1),
        ),
        Preset(
            "missing-mask", "Sort with the mask missing", "fails",
            "Look at the accuracies: nearly all answers are right, also in the first half, which is random and which nobody can "
            "know. Then read the alarm: it tells what the model scores when it writes the answer itself.",
            {"task": "sort", "mask_fault": "missing"},
            view=View("accuracy"),
        ),
        Preset(
            "no-skips", "Eight layers without skip connections", "fails",
            "Look at the gradients by part: those of q and k die away, those of v stay.",
            {"task": "k_back", "k": 1, "seq_len": 12, "n_layers": 8, "n_heads": 2, "d_model": 16, "skips": False,
             "learning_rate": 0.003, "steps": 200},
            view=View("gradients", by="qkv"),
        ),
        Preset(
            "no-norm", "Eight layers without normalisation, SGD", "fails",
            "Look at the message: which step, layer and tensor stopped being finite first, and what would have prevented it.",
            {"task": "k_back", "k": 1, "seq_len": 12, "n_layers": 8, "n_heads": 2, "d_model": 16, "norm": "none",
             "optimizer": "sgd", "learning_rate": 0.1, "warmup_steps": 0, "grad_clip": None, "steps": 100},
            view=View("gradients"),
        ),
        Preset(
            "bag-of-symbols", "Reverse with an encoder and no encoding", "fails",
            "Look at the predictions: equal symbols get equal answers, wherever they stand.",
            {"family": "encoder", "pos_encoding": "nope", "seq_len": 12, "n_heads": 4, "n_layers": 2, "learning_rate": 0.003},
            view=View("samples"),
        ),
        Preset(
            "overfit", "Eight layers on 128 noisy sequences", "fails",
            "Look at the two losses: training falls, validation rises.",
            {"task": "copy", "n_layers": 8, "n_heads": 2, "dataset_size": 128, "label_noise": 0.3, "steps": 400,
             "learning_rate": 0.005},
            view=View("accuracy"),
        ),
    )
}  # fmt: skip
