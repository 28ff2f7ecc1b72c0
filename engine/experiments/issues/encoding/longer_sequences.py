"""longer-sequences: trained on short sequences, tested on longer ones, encoding by encoding."""

from __future__ import annotations

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference, rise
from engine.experiments.issues.encoding import longer_text
from engine.experiments.issues.issue import Issue, Published
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

TRAINED = 12
AT = {1.0: "accuracy@12", 1.5: "accuracy@18", 2.0: "accuracy@24", 4.0: "accuracy@48"}
"""The metric by length, relative to the trained one."""
POINTS = tuple(AT.items())
FAR = AT[4.0]

COPY = {
    "task": "copy", "seq_len": 8, "min_seq_len": 2, "test_lengths": (8, 12, 16), "d_model": 64, "n_layers": 2,
    "learning_rate": 0.002, "steps": 900,
}  # fmt: skip
COPY_AT = {1.0: "second_half_accuracy@8", 1.5: "second_half_accuracy@12", 2.0: "second_half_accuracy@16"}
COPY_FAR = COPY_AT[1.5]


def _arm(name: str, role: str, encoding: str, **settings: object) -> Arm:
    given = {"k": 3, "pos_encoding": encoding, **settings}
    return Arm(name, role, given, FAR, points=POINTS)  # type: ignore[arg-type]


def _copy(name: str, encoding: str, **settings: object) -> Arm:
    given = {**COPY, "pos_encoding": encoding, **settings}
    return Arm(f"copy, {name}", "comparison", given, COPY_FAR, extended=True, points=tuple(COPY_AT.items()))


def _has_no_row(values: Values) -> np.ndarray:
    """1 where the learned table works at the trained length and cannot be run at one and a half times it."""
    trained, longer = values("learned table", AT[1.0]), values("learned table", AT[1.5])
    return np.where(np.isfinite(trained), np.isnan(longer).astype(float), np.nan)


def _relative_over_rope(values: Values) -> np.ndarray:
    """The lowest of ALiBi, T5 and none, minus RoPE, when copying."""
    others = np.stack([values(f"copy, {name}", COPY_FAR) for name in ("ALiBi", "T5 bias", "no encoding")])
    return np.asarray(others.min(axis=0) - values("copy, RoPE", COPY_FAR))


def _losses(encoding: str) -> tuple[tuple[str, str], ...]:
    """The arm of an encoding on text, and its loss at each length."""
    return tuple((f"text, {encoding}", metric) for metric in longer_text.AT.values())


ISSUE = Issue(
    slug="longer-sequences",
    group="encoding",
    **written(__file__),
    base={
        "task": "k_back",
        "seq_len": TRAINED,
        "min_seq_len": 5,
        "test_lengths": (12, 18, 24, 48),
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 4,
        "learning_rate": 0.01,
        "schedule": "cosine",
        "steps": 300,
    },
    arms=(
        _arm("sinusoidal", "fault", "sinusoidal"),
        _arm("sinusoidal, trained to 48", "control", "sinusoidal", seq_len=48),
        _arm("RoPE", "remedy", "rope"),
        _arm("Shaw relative", "remedy", "shaw"),
        _arm("T5 bias", "comparison", "t5_bias"),
        _arm("learned table", "comparison", "learned"),
        _arm("ALiBi", "comparison", "alibi"),
        _arm("no encoding", "comparison", "nope"),
        _arm("RoPE, interpolated", "comparison", "rope", rope_scaling="pi"),
        _copy("sinusoidal", "sinusoidal"),
        _copy("RoPE", "rope"),
        _copy("RoPE, interpolated", "rope", rope_scaling="pi"),
        _copy("RoPE, YaRN", "rope", rope_scaling="yarn", yarn_beta=4.0),
        _copy("T5 bias", "t5_bias"),
        _copy("ALiBi", "alibi"),
        _copy("no encoding", "nope"),
        *longer_text.ARMS,
    ),
    claims=worded(
        __file__,
        Claim(
            "sinusoidal",
            difference("sinusoidal", "sinusoidal, trained to 48", FAR),
            "accuracy at 4 times the trained length",
            0.2,
            "less",
        ),
        Claim(
            "rope", difference("RoPE", "sinusoidal", FAR), "accuracy at 4 times the trained length", 0.2, about="remedy"
        ),
        Claim(
            "shaw",
            difference("Shaw relative", "sinusoidal", FAR),
            "accuracy at 4 times the trained length",
            0.2,
            about="remedy",
        ),
        Claim(
            "t5-bias",
            rise("T5 bias", FAR, AT[1.0]),
            "accuracy at 4 times the trained length minus at 1",
            0.1,
            "less",
            about="condition",
        ),
        Claim("learned-table", _has_no_row, "share of models that cannot run at 18 symbols", 0.5, about="condition"),
        Claim(
            "alibi-trained-length",
            difference("sinusoidal", "ALiBi", AT[1.0]),
            "accuracy at the trained length, sinusoids minus ALiBi",
            0.3,
            about="condition",
        ),
        Claim(
            "no-encoding-trained-length",
            difference("sinusoidal", "no encoding", AT[1.0]),
            "accuracy at the trained length, sinusoids minus no encoding",
            0.3,
            about="condition",
        ),
        Claim(
            "interpolation",
            difference("RoPE, interpolated", "RoPE", AT[2.0]),
            "accuracy at twice the trained length",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "copy-order",
            _relative_over_rope,
            "accuracy at 1.5 times the trained length, the lowest of the three minus RoPE",
            0.1,
            about="condition",
            extended=True,
        ),
        Claim(
            "copy-interpolation",
            difference("copy, RoPE, interpolated", "copy, RoPE", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "copy-rope",
            difference("copy, RoPE", "copy, sinusoidal", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.05,
            about="condition",
            extended=True,
        ),
        Claim(
            "copy-no-encoding",
            difference("copy, no encoding", "copy, ALiBi", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.05,
            about="condition",
            extended=True,
        ),
        *longer_text.CLAIMS,
    ),
    key_figure=KeyFigure(
        claim="sinusoidal",
        sample="reads 7 2 9 4 1, must write · · · 7 2",
        question="A model with sinusoids reads 48 symbols. In training it saw at most 12, instead of 48: what happens to the accuracy?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on sequences of 48 symbols",
        subject="the accuracy at 48 symbols",
        change="With at most 12 symbols in training instead of 48,",
        before=Row("Sinusoids, trained on up to 48", "sinusoidal, trained to 48", FAR),
        after=Row("Sinusoids, at most 12", "sinusoidal", FAR),
        others=(
            Row("RoPE, at most 12", "RoPE", FAR),
            Row("Shaw's vectors, at most 12", "Shaw relative", FAR),
            Row("T5's bias, at most 12", "T5 bias", FAR),
        ),
        remedy="Choose a relative encoding that fits the task, and test at the length that you need.",
        also=("shaw", "t5-bias"),
    ),
    x_label="length relative to the trained one",
    published=(
        Published(
            source="Press et al. 2022, table 2",
            what=(
                "Their numbers are perplexities on WikiText-103, trained at 512 tokens and tested at the length of each column. Ours are "
                "losses in nats on plays by Shakespeare, trained at 32 characters. For both, lower is better."
            ),
            columns=("512", "1012", "2512"),
            rows={
                "Sinusoidal": (20.05, 43.54, 132.41),
                "Rotary": (20.07, 21.37, 31.58),
                "T5 bias": (19.65, 18.79, 20.41),
                "ALiBi": (19.73, 18.73, 18.41),
            },
            ours={
                "Sinusoidal": _losses("sinusoidal"),
                "Rotary": _losses("RoPE"),
                "T5 bias": _losses("T5 bias"),
                "ALiBi": _losses("ALiBi"),
            },
            differs=(
                "They train 16 layers on words and test at 1, 2 and 5 times the trained length. We train two layers on characters and "
                "test at 1, 2 and 4 times. Ours are measured in the extended experiment only."
            ),
        ),
        Published(
            source="Kazemnejad et al. 2023, figure 1",
            what=(
                "Their numbers are mean reciprocal ranks over ten tasks, trained up to length 20 and tested up to 40: 1 for an encoding "
                "that is the best in all tasks. Ours are accuracies in copying. For both, higher is better."
            ),
            columns=("mean reciprocal rank",),
            rows={
                "NoPE": (0.69,),
                "T5 bias": (0.55,),
                "ALiBi": (0.50,),
                "Rotary": (0.33,),
                "Absolute (sinusoidal)": (0.22,),
            },
            ours={
                "NoPE": (("copy, no encoding", COPY_FAR),),
                "T5 bias": (("copy, T5 bias", COPY_FAR),),
                "ALiBi": (("copy, ALiBi", COPY_FAR),),
                "Rotary": (("copy, RoPE", COPY_FAR),),
                "Absolute (sinusoidal)": (("copy, sinusoidal", COPY_FAR),),
            },
            differs=(
                "They rank the encodings over ten tasks. We measure the accuracy in one of them, copying, with two layers trained up to "
                "length 8 and tested at 12, in the extended experiment only. In their appendix, at 1.3 billion parameters, the loss with "
                "rotary encoding explodes beyond the trained length, while ALiBi and NoPE (no encoding) hold to about 1.8 times it."
            ),
        ),
    ),
)
