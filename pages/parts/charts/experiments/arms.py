import math
import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from engine.experiments.experiment import Role
from engine.settings.fields import Setting
from pages.parts.charts.colors import BLUE, MAGENTA, MUTED, OCHRE, ORANGE, TEAL, VIOLET, Pair, shade

ROLE_COLORS: dict[Role, str] = {"fault": ORANGE, "control": BLUE, "remedy": TEAL, "comparison": VIOLET}
MORE_COLORS = (MAGENTA, MUTED["light"], OCHRE)
# Labels of numbers with unclear names.
IN_WORDS = {
    "best_loss": "lowest validation loss",
    "finite": "every step finite (1) or not (0)",
    "token_residual": "how much tokens differ (0 to 1)",
    "first_grad.first": "gradient norm of the first block, before training",
    "first_grad.last": "gradient norm of the last block, before training",
    "largest_score": "largest attention score",
    "attention_entropy": "entropy of the attention, as a share of that of equal weights",
    "other_text.flattery": "loss on other text minus its own",
    "parameters.blocks": "parameters of the blocks",
    "position_probe": "accuracy of the position probe",
    "pointing.last": "pointing of the last layer's attention",
}
WEIGHTS = {"q": "queries", "k": "keys", "v": "values"}
IN_NATS = ("loss", "train_loss", "best_loss", "gap", "other_text.flattery")
SPREAD = 30.0  # ratio of largest to smallest value from which an axis is logarithmic
# Words in the labels of numbers that differ by many powers of ten.
POWERS_OF_TEN = ("gradient norm", "tokens differ", "token residual", "saved bytes", "parameters")


def role_color(role: Role, index: int = 0, of: int = 1) -> Pair:
    """The role's colour. Further arms of a role in one figure are darker, and comparisons have further colours."""
    tone = 0.7 * index / max(1, of - 1)
    if role != "comparison":
        return shade(ROLE_COLORS[role], tone)
    colors = (ROLE_COLORS[role], *MORE_COLORS)
    turn, last = index // len(colors), (of - 1) // len(colors)
    return shade(colors[index % len(colors)], 0.5 * turn / max(1, last))


def role_colors(roles: Sequence[Role]) -> list[Pair]:
    return [role_color(role, roles[:index].count(role), roles.count(role)) for index, role in enumerate(roles)]


def goes_without_saying(row: Setting, there: object, here: object) -> bool:
    """True if a change is only the default of a parameter that comes with another task or encoding."""
    is_new = there is None and (here is None or not row.optional)
    return is_new and here == row.default


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
    """A part of the model, with layers counted from 1: ``7.q`` is "layer 8, queries"."""
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
    """True for positive values whose smallest would be invisible on a linear axis."""
    numbers = list(values)
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) > SPREAD


def is_logarithmic(label: str, values: Sequence[float]) -> bool:
    """True for positive values whose label means powers of ten. By label, so that the axis of a running experiment
    keeps its kind."""
    return any(words in label for words in POWERS_OF_TEN) and bool(values) and min(values) > 0


def round_up(value: float) -> float:
    """The next number with one digit, or one and a half, so that an axis seldom changes as values come in."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15) if step * power >= value * (1 - 1e-9))


def wrapped(text: str, width: int = 18) -> str:
    lines = wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(line.replace("&", "&amp;").replace("<", "&lt;") for line in lines)
