"""Common parts of an experiment's figures: a colour for each role, labels, fixed axes."""

import math
import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from engine.experiments.experiment import Role
from engine.settings.fields import Setting
from pages.parts.charts.colors import BLUE, MAGENTA, MUTED, OCHRE, ORANGE, TEAL, VIOLET, Pair, shade

ROLE_COLORS: dict[Role, str] = {"fault": ORANGE, "control": BLUE, "remedy": TEAL, "comparison": VIOLET}
MORE_COLORS = (MAGENTA, MUTED["light"], OCHRE)
"""For comparisons beside the first, which are often many in one figure."""
IN_WORDS = {
    "best_loss": "lowest validation loss",
    "finite": "every step finite (1) or not (0)",
    "token_residual": "share in which tokens differ",
    "first_grad.first": "gradient norm of the first block, before training",
    "first_grad.last": "gradient norm of the last block, before training",
    "largest_score": "largest attention score",
    "attention_entropy": "entropy of the attention, as a share of that of equal weights",
    "other_text.flattery": "loss on other text minus its own",
    "parameters.blocks": "parameters of the blocks",
    "position_probe": "accuracy of the position probe",
    "pointing.last": "pointing of the last layer's attention",
}
"""Labels of numbers whose own names are unclear."""
WEIGHTS = {"q": "queries", "k": "keys", "v": "values"}
IN_NATS = ("loss", "train_loss", "best_loss", "gap", "other_text.flattery")
SPREAD = 30.0
"""The ratio of largest to smallest place from which an axis of places is logarithmic."""
POWERS_OF_TEN = ("gradient norm", "tokens differ", "token residual", "saved bytes", "parameters")
"""Words in the labels of numbers that lie many powers of ten apart by nature."""


def role_color(role: Role, index: int = 0, of: int = 1) -> Pair:
    """The role's colour; where several arms of a role share a figure, each is darker than the one before, and comparisons have
    further colours."""
    tone = 0.7 * index / max(1, of - 1)
    if role != "comparison":
        return shade(ROLE_COLORS[role], tone)
    colors = (ROLE_COLORS[role], *MORE_COLORS)
    turn, last = index // len(colors), (of - 1) // len(colors)
    return shade(colors[index % len(colors)], 0.5 * turn / max(1, last))


def role_colors(roles: Sequence[Role]) -> list[Pair]:
    """A colour for each arm of a figure, by their roles."""
    return [role_color(role, roles[:index].count(role), roles.count(role)) for index, role in enumerate(roles)]


def goes_without_saying(row: Setting, there: object, here: object) -> bool:
    """Return whether a change is only the default of a parameter that comes with another task or encoding."""
    comes_anew = there is None and (here is None or not row.optional)
    return comes_anew and here == row.default


def metric_label(name: str) -> str:
    """A number's name in words: ``first_half_accuracy`` is "first half accuracy", ``loss@24`` "loss at length 24"."""
    if name in IN_WORDS:
        return IN_WORDS[name]
    kind, _, rest = name.partition(".")
    if kind == "validation":
        return f"validation {metric_label(rest)}"
    if kind == "grad":
        return f"gradient norm, {_part_in_words(rest)}"
    quantity, _, length = name.replace("_", " ").replace(".", ", ").partition("@")
    return f"{quantity} at length {length}" if length else quantity


def _part_in_words(part: str) -> str:
    """The part of a model whose gradient is meant, layers counted from 1: ``7.q`` is "layer 8, queries"."""
    layer, _, weights = part.partition(".")
    number = layer.removeprefix("e")
    if not number.isdigit():
        return part
    named = f"{'encoder ' if layer != number else ''}layer {int(number) + 1}"
    return f"{named}, {WEIGHTS[weights]}" if weights in WEIGHTS else named


def with_unit(name: str) -> str:
    """A number's name in words, with its unit if it has one: "gap (nats)"."""
    return f"{metric_label(name)} (nats)" if name.partition("@")[0] in IN_NATS else metric_label(name)


def stem(name: str) -> str:
    """The common name of the numbers along one line: ``loss@24`` and ``loss@48`` are both "loss"."""
    return re.sub(r"(@|[._ ])\d+$", "", name)


def is_spread(values: Iterable[float]) -> bool:
    """Return whether the values are positive and so far apart that the small ones would be invisible on a linear axis."""
    found = list(values)
    return bool(found) and min(found) > 0 and max(found) / min(found) > SPREAD


def is_logarithmic(label: str, values: Sequence[float]) -> bool:
    """Return whether a number has a logarithmic axis. The label decides: the axis of a running experiment does not change its kind. Where a
    value is not above zero, it has no place on such an axis."""
    return any(words in label for words in POWERS_OF_TEN) and bool(values) and min(values) > 0


def round_up(value: float) -> float:
    """The next number with one digit, or one and a half: an axis that ends there seldom changes as values come in."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15) if step * power >= value * (1 - 1e-9))


def wrapped(text: str, width: int = 18) -> str:
    """A label broken into lines by ``<br>``, with its own markup escaped."""
    lines = wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(line.replace("&", "&amp;").replace("<", "&lt;") for line in lines)
