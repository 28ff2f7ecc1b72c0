"""The registry of positional encodings.

To add one, write the folder ``engine/encodings/<name>/`` with its specification in ``__init__.py`` (:mod:`engine.encodings.base`) and
its torch module in ``layer.py`` (:mod:`engine.encodings.base.layer`), and add one line here.
"""

from pkgutil import resolve_name

from engine.encodings.base import EncodingSpec

NAMES = (
    "nope",
    "sinusoidal",
    "learned",
    "fourier",
    "shaw",
    "t5_bias",
    "alibi",
    "kerple",
    "fire",
    "cope",
    "rope",
    "xpos",
    "mlp",
    "conv",
    "designed",
)
"""The folders, in the order of every list."""
NO_ENCODING = "nope"
"""The row without an encoding, with which others are compared."""
ENCODINGS: dict[str, EncodingSpec] = {name: resolve_name(f"engine.encodings.{name}:SPEC") for name in NAMES}
