"""The answer on data, memory and time."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "Data, memory and time",
    "data",
    Told(
        "From 32 sequences, a GRU learns to count open brackets better than a transformer with as many parameters.",
        "data-hunger",
        "a GRU learns to count open brackets better",
    ),
    (
        Paragraph(
            "Hunger for data.",
            (
                "Self-attention is said to need more data than a recurrent network.",
                Told(
                    "A GRU also learns the parity of eight bits better, from 128 sequences.",
                    "data-hunger",
                    "a GRU learns the parity of eight bits better",
                ),
                Told(
                    "With associative recall, a look-up, it might be the other way round: from 512 sequences, a transformer would learn it "
                    "better than a GRU.",
                    "data-hunger",
                    "better than a GRU with as many parameters",
                ),
                Told(
                    "A transformer would learn recall better from 512 sequences than from 128.",
                    "data-hunger",
                    "better from 512 training sequences than from 128",
                ),
                Told(
                    "It would also be more accurate at recall after a sister task with other symbols than without it.",
                    "data-hunger",
                    "after a sister task (same rule, other symbols) than without it",
                ),
            ),
        ),
        Paragraph(
            "Trivial solutions.",
            (
                "Full connectivity is said to find trivial solutions: every token is one step away.",
                Told(
                    "A cue that is right nine times out of ten in training costs a model accuracy on sequences with a random cue.",
                    "trivial-solutions",
                    "right nine times of ten costs",
                    turned=True,
                ),
                Told(
                    "On validation data like its training data, a model looks better if its cue was always right than if "
                    "it was random.",
                    "trivial-solutions",
                    "On validation data like its training data",
                ),
                Told(
                    "Drawing the cue of each training sequence at random makes the model more accurate on sequences with a random cue.",
                    "trivial-solutions",
                    "Drawing the cue of every training sequence at random",
                ),
                Told(
                    "Blanking half of the cues makes it more accurate there, too.",
                    "trivial-solutions",
                    "Blanking the cue in half",
                ),
            ),
        ),
        Paragraph(
            "Windows of a text.",
            (
                Told(
                    "Equally many windows leave a larger gap between validation and training loss if they overlap than if they stand side "
                    "by side.",
                    "overlapping-windows",
                    "Equally many windows leave a larger gap",
                ),
                Told(
                    "Cut from one text, overlapping windows reach a lower validation loss during training than windows side by side.",
                    "overlapping-windows",
                    "the lowest validation loss during training is lower",
                ),
                Told(
                    "If overlapping windows are dealt at random to training and validation, validation loss is "
                    "lower than the loss on other plays.",
                    "overlapping-windows",
                    "If overlapping windows are dealt at random",
                ),
            ),
        ),
        Paragraph(
            "Long texts.",
            (
                Told(
                    "The memory of attention that stores all its scores grows faster with the length of the text than that of a GRU.",
                    "quadratic-cost",
                    "than the memory of a GRU",
                ),
                Told(
                    "The time of its training step grows faster than in proportion to the length.",
                    "quadratic-cost",
                    "where attention stores all its scores",
                ),
                Told(
                    "The memory of fused attention grows more slowly with the length than that of attention which stores its scores.",
                    "quadratic-cost",
                    "The memory of fused attention grows more slowly",
                ),
                Told(
                    "The time of its training step grows faster than in proportion to the length, too.",
                    "quadratic-cost",
                    "with fused attention, too",
                ),
                Told(
                    "With a learned bias on the scores, the memory of fused attention grows faster with the length than without one.",
                    "quadratic-cost",
                    "where a learned bias is added",
                ),
                Told(
                    "With dropout on the attention weights, it grows faster than without dropout, too.",
                    "quadratic-cost",
                    "where dropout acts",
                ),
                Told(
                    "At 512 tokens, a training step of a GRU takes longer than one of fused attention.",
                    "quadratic-cost",
                    "a training step of a GRU takes longer",
                ),
            ),
        ),
        Paragraph(
            "Parameters.",
            (
                "Enormous numbers of parameters are said to make training and storing a model dear.",
                Told(
                    "The number of parameters in the blocks grows nearly with the square of the width.",
                    "parameter-growth",
                    "grows nearly with the square of the width",
                ),
                Told(
                    "It grows in proportion to the number of layers.",
                    "parameter-growth",
                    "in proportion to the number of layers",
                ),
                Told(
                    "AdamW keeps four numbers for each parameter.",
                    "parameter-growth",
                    "keeps four numbers for each parameter",
                ),
                Told(
                    "When a model gets wider, the time of a training step grows less than the number of parameters.",
                    "parameter-growth",
                    "grows less than the number of parameters",
                ),
                Told(
                    "If one block is used at every depth, the number of parameters grows less with depth than if each depth has its own.",
                    "parameter-growth",
                    "grows less with depth",
                ),
                Told(
                    "The time of a training step grows with depth then, too.",
                    "parameter-growth",
                    "where one block is used at every depth, too",
                ),
            ),
        ),
    ),
)
