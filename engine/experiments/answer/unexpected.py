"""The answer on what did not come out as expected: each sentence says what was expected."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "What did not come out as expected",
    "unexpected",
    None,
    (
        Paragraph(
            "Data and time.",
            (
                "Here each sentence says what one could expect, and its mark says what was found.",
                Told(
                    "Overlapping windows are said to overfit: cut from one text, they would leave a larger gap between validation and "
                    "training loss than "
                    "windows side by side.",
                    "overlapping-windows",
                    "Cut from one text",
                ),
                Told(
                    "A learned table is said to need vast data: trained on only 128 different sequences, it would be less accurate than "
                    "sinusoids.",
                    "learned-needs-data",
                    "Trained on only 128 different sequences",
                    turned=True,
                ),
                Told(
                    "With 1,024 training sequences too, the gap between the losses would be larger with six layers than with one.",
                    "overfitting-depth",
                    "With 1,024 training sequences too",
                ),
                Told(
                    "Stopped at its lowest validation loss, a model of six layers would still be worse on new sequences than one of "
                    "one layer.",
                    "overfitting-depth",
                    "six layers are still worse",
                ),
                Told(
                    "At 512 tokens, a training step would take less time with fused attention than with attention that stores all its "
                    "scores.",
                    "quadratic-cost",
                    "takes less time with fused attention",
                ),
            ),
        ),
        Paragraph(
            "Depth and gradients.",
            (
                Told(
                    "Four layers with sinusoids would be much more accurate than a single one.",
                    "stacking-does-not-help",
                    "Four layers with sinusoids are much more accurate",
                ),
                Told(
                    "They would be more accurate than two such layers.",
                    "stacking-does-not-help",
                    "than two layers with sinusoids",
                ),
                Told(
                    "Without skip connections, the gradient of the whole first block would vanish: it would be at least ten times smaller "
                    "than with them.",
                    "missing-skips",
                    "the gradient of the whole first block vanishes",
                ),
                Told(
                    "The gradient of the whole model would be at least ten times smaller, too.",
                    "missing-skips",
                    "the gradient of the whole model vanishes",
                ),
                Told(
                    "The values' gradient in the last block would be at least ten times smaller, too.",
                    "missing-skips",
                    "the values' gradient in the last block vanishes",
                ),
                Told(
                    "One block used four times in a row would end with a lower loss on new sequences than one block used once.",
                    "shared-layers",
                    "One block used four times in a row",
                ),
                Told(
                    "One wide block used at all four depths would end with a higher loss than four blocks with as many parameters.",
                    "shared-layers",
                    "One wide block used at all four depths",
                ),
                Told(
                    "Attention averaged over all layers would point at the pair with the answer less often with six layers than with "
                    "one.",
                    "interpretability",
                    "Attention averaged over all layers points",
                ),
            ),
        ),
        Paragraph(
            "Normalisation.",
            (
                Told(
                    "With AdamW too, fewer runs would stay finite without normalisation than with pre-LN.",
                    "no-normalization",
                    "With AdamW, fewer runs stay finite without normalisation",
                ),
                Told(
                    "With SGD, no normalisation and gradients clipped at norm 1, a model would end with a lower loss than guessing.",
                    "no-normalization",
                    "gradients clipped at norm 1, a model ends",
                ),
                Told(
                    "With SGD and no normalisation, more runs would stay finite if the learning rate warms up.",
                    "no-normalization",
                    "if the learning rate warms up",
                ),
                Told(
                    "More would stay finite with GELU in place of ReLU.",
                    "no-normalization",
                    "if the activation is GELU",
                ),
                Told("More would stay finite with dropout.", "no-normalization", "with dropout of 0.2"),
                Told("More would stay finite with weight decay.", "no-normalization", "with weight decay of 0.1"),
                Told(
                    "With SGD and post-LN, a model would end with a lower loss than guessing.",
                    "no-normalization",
                    "With SGD and post-LN",
                ),
            ),
        ),
        Paragraph(
            "Positions and heads.",
            (
                Told(
                    "An encoder without positional encoding would reverse better than by naming the commonest symbol of the sequence "
                    "everywhere.",
                    "no-encoding",
                    "naming the sequence's commonest symbol everywhere",
                ),
                Told(
                    "It would name the positions of its tokens better than chance.",
                    "no-encoding",
                    "An encoder without positional encoding names the positions",
                ),
                Told(
                    "When all symbols are the same, a causal decoder without encoding would name positions better than chance.",
                    "no-encoding",
                    "When all symbols are the same, a causal decoder without positional encoding",
                ),
                Told(
                    "Where the content tells how far back to look, sinusoids would be more accurate than a learned table.",
                    "fixed-encoding",
                    "a model with sinusoids is more accurate than a model with a learned table",
                ),
                Told(
                    "On a single look-up, one head of 32 numbers would be less accurate than 8 heads of four numbers each.",
                    "heads",
                    "On a single look-up, one head of 32 numbers",
                ),
            ),
        ),
    ),
)
