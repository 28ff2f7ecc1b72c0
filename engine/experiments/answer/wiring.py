"""The answer on the parts of a block: skip connections, normalisation, heads, the mask."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "How it is wired",
    "wiring",
    Told(
        "A model of eight layers learns to repeat the previous symbol less well without skip connections than with them.",
        "missing-skips",
        "less well without skip connections",
    ),
    (
        Paragraph(
            "Skip connections.",
            (
                "Without them, the documents say, gradients vanish before the first layers.",
                Told(
                    "One layer learns to repeat the previous symbol without them.",
                    "missing-skips",
                    "One layer learns to repeat",
                ),
                Told(
                    "At the start, in 24 layers with layer normalisation, the queries' gradient in the last block is at least ten times "
                    "smaller without skip connections than with them.",
                    "missing-skips",
                    "the queries' gradient in the last block vanishes",
                ),
                Told(
                    "Without skip connections, the tokens of a sequence also point more nearly in one direction after the last block.",
                    "missing-skips",
                    "point more nearly in one direction",
                ),
                Told(
                    "Without skip connections, the first block's gradient is at least ten times "
                    "smaller without layer normalisation than with it.",
                    "missing-skips",
                    "smaller without layer normalisation than with it",
                ),
            ),
        ),
        Paragraph(
            "Normalisation.",
            (
                "Without it, the documents say, the loss blows up until it is not a number (NaN).",
                Told(
                    "With SGD, fewer runs stay finite without normalisation than with layer normalisation before each branch (pre-LN).",
                    "no-normalization",
                    "With SGD, fewer runs stay finite without normalisation",
                ),
                Told(
                    "With AdamW, a model without normalisation is less accurate than one with pre-LN.",
                    "no-normalization",
                    "With AdamW, a model without normalisation reaches",
                ),
                Told(
                    "Under SGD, layer normalisation after each sum (post-LN) also lets more runs stay finite than none.",
                    "no-normalization",
                    "with layer normalisation after each sum (post-LN) than without",
                ),
                Told(
                    "A factor of 0.25 on the output of each branch lets more runs stay finite, too.",
                    "no-normalization",
                    "if the output of each branch is multiplied by 0.25",
                ),
                Told(
                    "With this factor, a model ends with a lower loss than guessing.",
                    "no-normalization",
                    "branches multiplied by 0.25, a model ends",
                ),
                Told(
                    "Gradients clipped at norm 1 let more runs stay finite than gradients that are not clipped.",
                    "no-normalization",
                    "if gradients are clipped at norm 1",
                ),
            ),
        ),
        Paragraph(
            "Heads.",
            (
                "The heads share the width of the model.",
                Told(
                    "With 32 heads of one number each, a model finds the right one of 16 keys less often than with 8 heads of four "
                    "numbers.",
                    "heads",
                    "With 32 heads of one number each",
                ),
                Told(
                    "With 32 heads of four numbers each, it finds it more often than with 32 heads of one number.",
                    "heads",
                    "With 32 heads of four numbers each",
                ),
                Told(
                    "One head is less accurate on four look-ups at once than four heads.",
                    "heads",
                    "With one head, a model is less accurate on four look-ups",
                ),
            ),
        ),
        Paragraph(
            "The mask.",
            (
                "A toy task checks it: the second half of each sequence can be known, the first half cannot.",
                Told(
                    "Without the mask, a model predicts the random first half more accurately than with the causal mask.",
                    "missing-mask",
                    "Without the mask, the model predicts",
                ),
                Told(
                    "With a transposed mask, it predicts the first half more accurately, too.",
                    "missing-mask",
                    "With a transposed mask, the model predicts",
                ),
                Told(
                    "With a mask that is off by one, it does so as well.",
                    "missing-mask",
                    "With a mask that is off by one, the model predicts",
                ),
                Told(
                    "When it writes the second half itself, a model is less accurate without the mask than with it.",
                    "missing-mask",
                    "it is less accurate without the mask",
                ),
                Told(
                    "With the causal mask, the model learns the second half far better than chance.",
                    "missing-mask",
                    "the model learns the second half",
                ),
                Told(
                    "Its accuracy on the first half then stays within .05 of chance.",
                    "missing-mask",
                    "stays within .05 of chance",
                ),
            ),
        ),
    ),
)
