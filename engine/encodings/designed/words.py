"""A design in a sentence."""

from __future__ import annotations

from engine.encodings.designed.spec import DesignedSettings

IN_WORDS = {
    "table": "A table with a row for each {number}",
    "sinusoids": "Sinusoids of the {number}",
    "fourier": "Fourier features of the {number}",
    "network": "A network on the {number}",
    "convolution": "A convolution of the tokens",
    "direct": "",
    "linear": ", read out by a linear map",
    "readout.network": ", read out by a network",
    "embedding": ", added to the embedding.",
    "scores": ", added to the scores.",
    "rotation": ", turning queries and keys.",
}


def in_words(parts: DesignedSettings) -> str:
    """The design in a sentence."""
    readout = "readout.network" if parts.design_readout == "network" else parts.design_readout
    number = "offset" if parts.design_place == "scores" else "position"
    return IN_WORDS[parts.design_features].format(number=number) + IN_WORDS[readout] + IN_WORDS[parts.design_place]
