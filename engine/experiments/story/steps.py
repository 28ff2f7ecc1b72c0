"""The six steps: a bag of symbols, positions, a head, distances, two layers, and what the second layer needs."""

from __future__ import annotations

from engine.experiments.story.questions import (
    EQUAL_SYMBOLS,
    HEADS_AT_THE_MIRROR,
    HOW_MANY_RIGHT,
    LAYER_AT_THE_MIRROR,
    PICTURE_OF_THE_WEIGHTS,
    WHEN_MOST_ARE_RIGHT,
)
from engine.experiments.story.step import Step
from engine.settings.fields import Value

REVERSE: dict[str, Value] = {
    "task": "reverse", "family": "encoder", "seq_len": 8, "learning_rate": 0.01, "schedule": "cosine", "steps": 200,
}  # fmt: skip
"""An encoder that reverses eight symbols: it reads all of them at once and answers at each position."""

STEPS: tuple[Step, ...] = (
    Step(
        title="A bag of symbols",
        sentences=(
            "The model reads eight symbols and writes them backwards: from 2 9 1 8 8 3 5 4 it must make 4 5 3 8 8 1 9 2.",
            "Attention compares symbols by what they are. Nothing tells this model where a symbol stands. Do more layers help?",
        ),
        base={**REVERSE, "pos_encoding": "nope"},
        setting="n_layers",
        values=(1, 2, 4),
        first=1,
        figure="samples",
        question=EQUAL_SYMBOLS,
        leads_to="The next step tells the model where each symbol stands.",
    ),
    Step(
        title="Say where each symbol stands",
        sentences=(
            "A positional encoding marks each position. A learned table adds a vector of its own to each position; sinusoids add waves "
            "of different lengths.",
            "Everything else stays as it was, with one layer and one head.",
        ),
        base={**REVERSE, "n_layers": 1},
        setting="pos_encoding",
        values=("nope", "learned", "sinusoidal"),
        first="learned",
        figure="accuracy",
        question=HOW_MANY_RIGHT,
        leads_to="How does a model use its positions? The next step looks inside.",
    ),
    Step(
        title="Look where a head looks",
        sentences=(
            "A head gives each position a weight for every position that it may read. In the figure, a row is a position that asks, "
            "a column is one that is read.",
            "The first position needs the symbol of the last, the second that of the last but one: the mirrored position.",
        ),
        base={**REVERSE, "n_layers": 1, "pos_encoding": "learned"},
        setting="n_heads",
        values=(1, 2, 4),
        first=1,
        figure="heads",
        question=HEADS_AT_THE_MIRROR,
        leads_to="Here each position has a name. Many models are told only how far apart two positions are: that is next.",
    ),
    Step(
        title="Only how far apart",
        sentences=(
            "Relative encodings tell a head how far apart two positions are, and not where they stand.",
            "The first position must read 7 further on, the second only 5, and the last must read 7 back: each needs another distance.",
        ),
        base={**REVERSE, "n_layers": 1},
        setting="pos_encoding",
        values=("rope", "t5_bias", "alibi", "shaw"),
        first="rope",
        figure="heads",
        question=PICTURE_OF_THE_WEIGHTS,
        leads_to="One layer reads once. The next step lets a second layer read what the first one has found.",
    ),
    Step(
        title="A second layer",
        sentences=(
            "Shaw's encoding adds a vector of the distance also to what is read. So a head that reads all positions equally gets "
            "their mean distance: at the left end all lie to the right.",
            "From this the first layer could find out where each position stands, and a later layer could use it.",
        ),
        base={**REVERSE, "pos_encoding": "shaw"},
        setting="n_layers",
        values=(1, 2, 3),
        first=2,
        figure="heads",
        question=LAYER_AT_THE_MIRROR,
        leads_to="What does the second layer need? The last step takes the distances away from what is read.",
    ),
    Step(
        title="Weighed or read?",
        sentences=(
            "Two layers as before. With relative values off, distances change only the weights, as with RoPE: what is read does not "
            "tell its distance.",
            "If the first layer finds out in this way where each position stands, the second must miss it now.",
        ),
        base={**REVERSE, "n_layers": 2, "pos_encoding": "shaw"},
        setting="shaw_values",
        values=(True, False),
        first=False,
        figure="accuracy",
        question=WHEN_MOST_ARE_RIGHT,
        leads_to="In the lab every setting is free: what else helps RoPE to reverse?",
    ),
)
