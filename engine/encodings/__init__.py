"""The registry of positional encodings.

A new one has the folder ``engine/encodings/<name>/``, with its specification in ``__init__.py`` (:mod:`engine.encodings.base`) and its
torch module in ``layer.py`` (:mod:`engine.encodings.base.layer`), and one line here.
"""

from pkgutil import resolve_name

from engine.encodings.base import EncodingSpec

# folders, in the order of every list
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
NO_ENCODING = "nope"
ENCODINGS: dict[str, EncodingSpec] = {name: resolve_name(f"engine.encodings.{name}:SPEC") for name in NAMES}
