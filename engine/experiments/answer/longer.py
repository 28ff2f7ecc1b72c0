"""The answer on sequences that are longer than those of training."""

from __future__ import annotations

from engine.experiments.answer.statement import Paragraph, Section, Told

SECTION = Section(
    "Longer than trained",
    "longer",
    Told(
        "At 48 symbols, a model with sinusoids that was trained on at most 12 is less accurate than one trained on up to 48.",
        "longer-sequences",
        "less accurate than one trained on up to 48",
    ),
    (
        Paragraph(
            "Positions never met.",
            (
                Told(
                    "A model with a learned table cannot run at all on sequences longer than in training: there is no row for the new "
                    "positions.",
                    "longer-sequences",
                    "cannot run on longer sequences",
                ),
                Told(
                    "After training on at most 12 symbols, RoPE is more accurate at 48 than sinusoids.",
                    "longer-sequences",
                    "a model with RoPE is more accurate at 48 symbols",
                ),
                Told(
                    "Shaw's relative vectors are more accurate than sinusoids there, too.",
                    "longer-sequences",
                    "with Shaw's relative vectors is more accurate",
                ),
                Told(
                    "T5's bias, a relative encoding as well, is less accurate at 48 symbols than at the 12 of its training.",
                    "longer-sequences",
                    "A model with T5's bias, a relative encoding",
                ),
                Told(
                    "Position interpolation without further training makes a model with RoPE less accurate at twice the trained length.",
                    "longer-sequences",
                    "At twice the trained length, position interpolation",
                ),
                Told(
                    "At the trained length itself, sinusoids are more accurate than ALiBi after the same training.",
                    "longer-sequences",
                    "more accurate than a model with ALiBi after the same training",
                ),
            ),
        ),
        Paragraph(
            "Do positions blur?",
            (
                Told(
                    "Neighbouring positions are said to become hard to tell apart: their sinusoids would be more alike in sequences of "
                    "length 512 than of length 8.",
                    "stacking-does-not-help",
                    "The sinusoids of neighbouring positions are more alike",
                ),
                Told(
                    "If positions are squeezed into a fixed range, the sinusoids of neighbours are more alike at length 512 than at 8.",
                    "stacking-does-not-help",
                    "If positions are squeezed into a fixed range",
                ),
            ),
        ),
    ),
)
