"""quadratic-cost: how time and memory of self-attention grow with the length, beside those of an RNN and a CNN."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.config.run_config import parse
from engine.estimate.matching import matched_width, n_parameters
from engine.experiments.experiment import Arm, Claim, Role, Values
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.scaling import exponent, log2_ratio, minus
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

LENGTHS = (128, 256, 512)
LONGEST = LENGTHS[-1]
BASE: dict[str, Any] = {
    "task": "k_back",
    "k": 1,
    "pos_encoding": "sinusoidal",
    "d_model": 24,
    "n_heads": 4,
    "n_layers": 1,
    "attention_impl": "fused",
    "batch_size": 2,
    "steps": 1,
    "device": "cpu",
}
PARAMETERS = n_parameters(parse(BASE))


def _matched(family: str, **settings: Any) -> dict[str, Any]:
    own = {"family": family, **settings}
    return {**own, "d_model": matched_width(parse({**BASE, **own}), PARAMETERS)}


def _name(line: str, length: int) -> str:
    return f"{line}, {length} tokens"


def _line(
    line: str, role: Role, settings: Mapping[str, Any], lengths: tuple[int, ...] = LENGTHS, *, extended: bool = False
) -> tuple[Arm, ...]:
    measurements = ("saved_bytes", "step_time")
    return tuple(
        Arm(
            _name(line, n), role, {**settings, "seq_len": n}, "saved_bytes", measurements,
            extended=extended, alone=True, line=line, x=float(n),
        )
        for n in lengths
    )  # fmt: skip


def _along(line: str, lengths: tuple[int, ...] = LENGTHS) -> dict[float, str]:
    return {float(n): _name(line, n) for n in lengths}


WRITTEN, FUSED, BIASED, DROPPED = "scores written out", "fused", "fused, learned bias", "fused, dropout"
GRU, CNN = "GRU", "dilated CNN"
ENDS = (LENGTHS[0], LONGEST)
MEMORY, TIME = "saved_bytes", "train_ms"
GROWTH_OF_MEMORY = "difference of two exponents of memory over length"
GROWTH_OF_TIME = "exponent of time over length, above 1"
DOUBLINGS = "doublings of the time of a training step"


def _share_that_agrees(values: Values) -> np.ndarray:
    shapes = [values(arm, "formula_agrees") for line in (WRITTEN, FUSED) for arm in _along(line).values()]
    share: np.ndarray = np.array(shapes).mean(axis=0)  # [shape, seed] -> [seed]
    return share


ISSUE = Issue(
    slug="quadratic-cost",
    group="attention",
    **written(__file__),
    base=BASE,
    arms=(
        *_line(WRITTEN, "fault", {"attention_impl": "materialised"}),
        *_line(GRU, "control", _matched("gru")),
        *_line(CNN, "control", _matched("cnn", n_layers=2)),
        *_line(FUSED, "remedy", {}),
        *_line(BIASED, "comparison", {"pos_encoding": "t5_bias"}, ENDS),
        *_line(DROPPED, "comparison", {"dropout": 0.1}, ENDS),
        *_line("fused, ALiBi", "comparison", {"pos_encoding": "alibi"}, ENDS, extended=True),
        *_line(WRITTEN, "fault", {"attention_impl": "materialised"}, (1024,), extended=True),
        *_line(GRU, "control", _matched("gru"), (1024,), extended=True),
        *_line(CNN, "control", _matched("cnn", n_layers=2), (1024,), extended=True),
        *_line(FUSED, "remedy", {}, (1024,), extended=True),
    ),
    claims=worded(
        __file__,
        Claim(
            "memory-over-gru",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(GRU), MEMORY)),
            GROWTH_OF_MEMORY,
            0.5,
        ),
        Claim("time-written-out", minus(exponent(_along(WRITTEN), TIME), 1.0), GROWTH_OF_TIME, 0.2),
        Claim(
            "memory-over-convolution",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(CNN), MEMORY)),
            GROWTH_OF_MEMORY,
            0.5,
        ),
        Claim(
            "gru-slower",
            log2_ratio(_name(GRU, LONGEST), _name(FUSED, LONGEST), TIME),
            DOUBLINGS,
            0.5,
            about="condition",
        ),
        Claim("time-fused", minus(exponent(_along(FUSED), TIME), 1.0), GROWTH_OF_TIME, 0.2, about="condition"),
        Claim(
            "learned-bias",
            minus(exponent(_along(BIASED, ENDS), MEMORY), exponent(_along(FUSED, ENDS), MEMORY)),
            GROWTH_OF_MEMORY,
            0.5,
            about="condition",
        ),
        Claim(
            "attention-dropout",
            minus(exponent(_along(DROPPED, ENDS), MEMORY), exponent(_along(FUSED, ENDS), MEMORY)),
            GROWTH_OF_MEMORY,
            0.5,
            about="condition",
        ),
        Claim(
            "bytes", _share_that_agrees, "share of six models in which both agree to the byte", 0.9, about="condition"
        ),
        Claim(
            "fused-memory",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(FUSED), MEMORY)),
            GROWTH_OF_MEMORY,
            0.5,
            about="remedy",
        ),
        Claim(
            "fused-time",
            log2_ratio(_name(WRITTEN, LONGEST), _name(FUSED, LONGEST), TIME),
            DOUBLINGS,
            0.3,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
        claim="memory-over-gru",
        sample="reads 512 symbols, 7 2 9 4 …, must write · 7 2 9 …",
        question=(
            "Replace a GRU by an equally large transformer that stores its scores, at 512 tokens: what happens to the memory a training "
            "step keeps?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Bytes kept for the backward pass",
        subject="the memory that a training step keeps",
        change="At 512 tokens, with a transformer that stores its scores in place of a GRU,",
        before=Row("GRU, 512 tokens", _name(GRU, LONGEST), MEMORY),
        after=Row("scores stored, 512 tokens", _name(WRITTEN, LONGEST), MEMORY),
        others=(
            Row("fused attention, 512 tokens", _name(FUSED, LONGEST), MEMORY),
            Row("GRU, 128 tokens", _name(GRU, LENGTHS[0]), MEMORY),
            Row("scores stored, 128 tokens", _name(WRITTEN, LENGTHS[0]), MEMORY),
            Row("fused attention, 128 tokens", _name(FUSED, LENGTHS[0]), MEMORY),
        ),
        remedy="Use fused attention, which does not store the scores.",
        scale="log",
        unit="bytes",
        also=("time-written-out", "gru-slower"),
    ),
    x_label="Tokens",
    evaluations=1,
)  # fmt: skip
