"""The answer on depth: what more layers bring."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "Depth",
    "depth",
    Told(
        "Four layers with sinusoids are less accurate than a single layer with RoPE.",
        "stacking-does-not-help",
        "Four layers with sinusoids are less accurate",
    ),
    (
        Paragraph(
            "More layers or another encoding.",
            (
                "Simply stacking layers may not help.",
                Told(
                    "A higher learning rate, with nothing else changed, makes a single layer with sinusoids more accurate.",
                    "stacking-does-not-help",
                    "With a higher learning rate",
                ),
                Told(
                    "A linear probe reads the position less accurately after the last of four layers with "
                    "sinusoids than at the embedding.",
                    "stacking-does-not-help",
                    "A linear probe reads the position less accurately",
                ),
            ),
        ),
        Paragraph(
            "Overfitting.",
            (
                Told(
                    "With 128 training sequences, the gap between validation loss and training loss is larger with six layers than with "
                    "one.",
                    "overfitting-depth",
                    "With 128 training sequences, the gap",
                ),
                Told(
                    "Six layers also end with a higher loss on new sequences than one layer.",
                    "overfitting-depth",
                    "ends with a higher loss on new sequences than a model of one layer",
                ),
                Told(
                    "Six layers end with a lower validation loss after training on 1,024 sequences than on 128.",
                    "overfitting-depth",
                    "after training on 1,024 sequences than on 128",
                ),
                Told(
                    "With 128 sequences, their validation loss is lower at its best moment (early stopping) than at the end of training.",
                    "overfitting-depth",
                    "at its best moment",
                ),
                Told("Dropout of 0.2 lowers their validation loss there.", "overfitting-depth", "Dropout of 0.2"),
                Told("Weight decay of 1 lowers it there, too.", "overfitting-depth", "Weight decay of 1"),
            ),
        ),
        Paragraph(
            "Reading a deep model.",
            (
                "Deeper models are said to be harder to interpret.",
                Told(
                    "Attention of the last layer points at the pair with the answer less often with six layers than with one.",
                    "interpretability",
                    "The attention of the last layer points",
                ),
                Told(
                    "Attention roll-out, which multiplies all layers, also points there less often with six layers than with one.",
                    "interpretability",
                    "Attention roll-out",
                ),
                Told(
                    "Gradient times input points there less often, too.",
                    "interpretability",
                    "Gradient times input points",
                ),
                Told(
                    "With six layers, attention averaged over all layers points at this pair more often than attention of the last one.",
                    "interpretability",
                    "attention averaged over all layers points at the pair with the answer more often",
                ),
            ),
        ),
        Paragraph(
            "Are the dense layers different in each block?",
            (
                Told(
                    "After training, the MLPs of different blocks give different outputs for the same input.",
                    "shared-layers",
                    "the MLPs of different blocks give different outputs",
                ),
                Told(
                    "One block used at all four depths ends with a higher loss on new sequences than four blocks with weights of "
                    "their own.",
                    "shared-layers",
                    "ends with a higher loss on new sequences than four blocks with weights of their own",
                ),
                Told(
                    "It saves more than half of their parameters.",
                    "shared-layers",
                    "saves more than half of the parameters",
                ),
            ),
        ),
    ),
)
