"""The answer on positional encodings: without one, and with one that does not fit the task."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "Without positions, or with the wrong ones",
    "positions",
    Told(
        "Without a positional encoding, an encoder is less accurate at reversing a sequence than with a learned table.",
        "no-encoding",
        "Without a positional encoding, an encoder is less accurate",
    ),
    (
        Paragraph(
            "No encoding.",
            (
                "Self-attention compares tokens by what they are; it is not told where they stand.",
                Told(
                    "With sinusoids, an encoder reverses more accurately than without any encoding.",
                    "no-encoding",
                    "With sinusoids, an encoder is more accurate",
                ),
                Told(
                    "In one layer, an encoder with RoPE, which encodes offsets only, reverses less accurately than with a learned "
                    "table.",
                    "no-encoding",
                    "an encoder with RoPE is less accurate",
                ),
                Told(
                    "With T5's bias, it is less accurate than with a learned table, too.",
                    "no-encoding",
                    "an encoder with T5's bias is less accurate",
                ),
                Told(
                    "With ALiBi, it is also less accurate than with a learned table.",
                    "no-encoding",
                    "an encoder with ALiBi is less accurate",
                ),
                Told(
                    "When all symbols are the same, a causal decoder without encoding names positions better with a begin token than "
                    "without it.",
                    "no-encoding",
                    "better with a begin token than without it",
                ),
            ),
        ),
        Paragraph(
            "The encoding has to fit the task.",
            (
                "Sinusoids are made for looking a fixed number of places back.",
                Told(
                    "On a fixed shuffle, where each position looks at a place of its own, a model with sinusoids is less accurate than on "
                    "looking three places back.",
                    "fixed-encoding",
                    "A model with sinusoids is less accurate on a fixed shuffle",
                ),
                Told(
                    "A learned table is more accurate on the shuffle than sinusoids.",
                    "fixed-encoding",
                    "a model with a learned table is more accurate than a model with sinusoids",
                ),
                Told(
                    "RoPE, which encodes offsets only, is less accurate there than a learned table.",
                    "fixed-encoding",
                    "a model with RoPE, which encodes offsets only",
                ),
                Told(
                    "With twice the learning rate, a model with sinusoids is more accurate on the shuffle than before.",
                    "fixed-encoding",
                    "more accurate with twice the learning rate",
                ),
                Told(
                    "Where the content tells how far back to look, RoPE is more accurate than a learned table.",
                    "fixed-encoding",
                    "a model with RoPE is more accurate than a model with a learned table",
                ),
            ),
        ),
        Paragraph(
            "What a learned table needs.",
            (
                "A learned encoding is said to need vast data; its table has a row for each position.",
                Told(
                    "At full length, a learned table is less accurate after training on mostly short sequences than after equally many of "
                    "all lengths alike.",
                    "learned-needs-data",
                    "than on all lengths alike",
                    turned=True,
                ),
                Told(
                    "After training on mostly short sequences, its accuracy is higher at positions visited often in training than at those "
                    "visited seldom.",
                    "learned-needs-data",
                    "higher at positions visited often",
                ),
                Told(
                    "After the same training, Shaw's relative vectors are more accurate at full length than a "
                    "learned table.",
                    "learned-needs-data",
                    "Shaw's relative vectors are more accurate",
                ),
                Told("RoPE is more accurate there, too.", "learned-needs-data", "RoPE is more accurate at full length"),
                Told(
                    "On looking three places back, a model is less accurate if its table starts far below the "
                    "scale of the tokens than at that scale.",
                    "table-scale",
                    "less accurate if its table starts far below",
                    turned=True,
                ),
                Told(
                    "Such a model is more accurate if its tokens start equally small.",
                    "table-scale",
                    "more accurate if its tokens start equally small",
                ),
                "Pictures of learned tables often show that near positions have similar rows.",
                Told(
                    "A table that starts small ends with more of this order than one that starts at the scale of the tokens.",
                    "table-scale",
                    "A learned table started small ends with more order",
                ),
                Told(
                    "The model whose table starts at the scale of the tokens is far more accurate than chance all the same.",
                    "table-scale",
                    "started at the scale of the tokens solves its task",
                ),
            ),
        ),
        Paragraph(
            "The position as a shortcut.",
            (
                "A model may depend on positions and ignore the data.",
                Told(
                    "If the position alone gave the answer nine times out of ten in training, a learned table is less accurate on data "
                    "without this shortcut than a table trained without it.",
                    "position-shortcut",
                    "On data without the shortcut, a learned table is less accurate",
                    turned=True,
                ),
                Told(
                    "As long as the shortcut is there, a table trained with it is far more accurate than chance.",
                    "position-shortcut",
                    "a learned table is far more accurate than chance",
                ),
                Told(
                    "Trained with the shortcut and tested without it, RoPE is more accurate than a learned table.",
                    "position-shortcut",
                    "RoPE is more accurate than a learned table",
                ),
                Told(
                    "Sinusoids are more accurate than a learned table there, too.",
                    "position-shortcut",
                    "sinusoids are more accurate than a learned table",
                ),
                Told(
                    "Position dropout in training makes a learned table more accurate there.",
                    "position-shortcut",
                    "with position dropout in training",
                ),
                Told(
                    "Randomized positions in training are said to do so, too.",
                    "position-shortcut",
                    "with randomized positions in training",
                ),
            ),
        ),
    ),
)
