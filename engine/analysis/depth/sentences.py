"""Sentences computed from the numbers by depth: for each measurement a question, its answer, and the source."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from engine.analysis.depth.jobs import DepthNumbers
from engine.foundation.formatting import counted, in_digits, listed

# tokens that differ in a smaller share are equal as far as float32 can tell: its rounding alone leaves about 1e-7
SMALLEST_SHARE = 1e-6


class DepthQuestion(NamedTuple):
    question: str
    source: str
    address: str


DEPTH_QUESTIONS = {
    "roll_out": DepthQuestion(
        "What does the last token read?", "Wu et al. 2025, On the Emergence of Position Bias in Transformers",
        "https://arxiv.org/abs/2502.01951"
    ),
    "token_share": DepthQuestion(
        "Do tokens stay different?",
        "Dong et al. 2021, Attention is not all you need: pure attention loses rank doubly exponentially with depth",
        "https://arxiv.org/abs/2103.03404",
    ),
    "first_token": DepthQuestion(
        "Does the last token remember?",
        "Barbero et al. 2024, Transformers need glasses! Information over-squashing in language tasks",
        "https://arxiv.org/abs/2406.04267",
    ),
    "gradient": DepthQuestion(
        "How large is the gradient?",
        "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture", "https://arxiv.org/abs/2002.04745",
    ),
}  # fmt: skip


class DepthSentence(NamedTuple):
    name: str
    question: str
    sentence: str
    brief: str
    """The sentence in a few words, for two models in one figure."""
    source: str
    address: str


def across(draws: Sequence[DepthNumbers]) -> DepthNumbers:
    """The medians."""
    first = draws[0]
    arrays = {name: np.median([numbers[name] for numbers in draws], axis=0) for name in first if name != "gradient"}  # type: ignore[literal-required]
    arrays |= {"depths": first["depths"], "lengths": first["lengths"]}  # whole numbers stay such
    gradient = {norm: np.median([numbers["gradient"][norm] for numbers in draws], axis=0) for norm in first["gradient"]}
    return cast(DepthNumbers, {**arrays, "gradient": gradient})


def depth_sentences(numbers: DepthNumbers, depth: int) -> list[DepthSentence]:
    """The sentences at a depth. Raises ValueError if that depth was not measured."""
    at = numbers["depths"].tolist().index(depth)
    after = f"After {counted(depth, 'layer')}"
    sentences = {
        "roll_out": _roll_out(numbers, at, after),
        "token_share": _token_share(numbers, at, after),
        "first_token": _first_token(numbers, at),
        "gradient": _gradient(numbers, at),
    }
    measured = ((name, DEPTH_QUESTIONS[name], both) for name, both in sentences.items() if both)
    return [DepthSentence(name, about.question, *both, about.source, about.address) for name, about, both in measured]


def _percent(share: float) -> str:
    """A share with two digits, also if it is very small: "82 %", "0.48 %", "0.0095 %"."""
    return f"{np.format_float_positional(100 * share, 2 if share < 1 else 3, fractional=False, trim='-')} %"


def _roll_out(numbers: DepthNumbers, at: int, after: str) -> tuple[str, str]:
    weight, alone = numbers["roll_out"][at, 0], numbers["layer_weight"][at, 0]
    layer, brief = numbers["depths"][at], f"{_percent(weight)} from the first token"
    more = f"; layer {layer} alone {_percent(alone)}" if layer > 1 else ""
    return f"{after}, the last position reads {brief}{more}.", f"{brief}."


def _token_share(numbers: DepthNumbers, at: int, after: str) -> tuple[str, str]:
    share = numbers["token_share"][at]
    if share < SMALLEST_SHARE:
        return f"{after}, all tokens are equal, as far as float32 can tell.", "all tokens are equal."
    brief = f"{_percent(share)} of their size."
    return f"{after}, tokens differ by {brief}", brief


def _first_token(numbers: DepthNumbers, at: int) -> tuple[str, str] | None:
    lengths, changes, equal = numbers["lengths"], numbers["first_token"][at], numbers["repeat_equal"][at]
    # the model looks ahead
    if not len(lengths):
        return None
    shortest = f"{_percent(changes[0])} at length {lengths[0]}, " if len(lengths) > 1 else ""
    brief = f"{shortest}{_percent(changes[-1])} at {lengths[-1] if shortest else f'length {lengths[-1]}'}"
    sentence = f"Another first token changes the last output by {brief}."
    repeated = f"In bfloat16, appending 1 to 0 1 … 1 leaves {_percent(equal[-1])} unchanged."
    return f"{sentence} {repeated}", f"the first token changes it by {brief}."


def _gradient(numbers: DepthNumbers, at: int) -> tuple[str, str]:
    names = {"pre": "pre-LN", "post": "post-LN", "none": "no normalisation"}
    sizes = listed(
        [f"{in_digits(float(values[at]))} with {names[norm]}" for norm, values in numbers["gradient"].items()]
    )
    return f"Layer 1: {sizes}.", f"{sizes} in layer 1."
