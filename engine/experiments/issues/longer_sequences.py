"""longer-sequences: trained on short sequences, tested on longer ones, encoding by encoding."""

from __future__ import annotations

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference, rise
from engine.experiments.issues import longer_text
from engine.experiments.issues.issue import Issue, Published, Source
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
    title="Sequences longer than in training",
    summary=(
        "A model is often used on sequences that are longer than all sequences of its training, and so it meets positions it has never "
        "seen. Here models with different positional encodings train on at most 12 symbols and are tested on up to 48."
    ),
    mechanism=r"""
The answer at each position is the symbol three places back. A model with an *absolute* encoding reads the sum $E_{x_i} + P_i$ of the
symbol's embedding and the encoding of its position $i$. It has to learn for each $i$ that the query at position $i$ fits the key at
position $i - 3$. Beyond the trained length $L$ this sum is an input that the model has never met. A *learned* table has no $P_i$ there
at all.

A *relative* encoding puts the offset $i - j$ between query $i$ and key $j$ into their score $s_{ij}$:
$$s_{ij} = f(q_i, k_j, i - j),$$
where $q_i$ is the query, $k_j$ the key and $f$ the rule of the encoding. What the model learned about the offset 3 then holds at every
position. RoPE turns $q_i$ and $k_j$ so that their product depends on positions through $i - j$ alone. Shaw's vectors and T5's bias are
looked up in a table by $i - j$.

Even so, two things are new in a longer sequence: the attention weights $e^{s_{ij}} / \sum_k e^{s_{ik}}$ are shared among more keys, and
there are offsets larger than $L$. A relative encoding can therefore lose accuracy too.

**Position interpolation** squeezes the $n$ positions of a longer sequence into the trained range: it uses $i\,L/n$ in place of $i$. Now
all positions lie in the trained range, but neighbours stand closer together than any in training. "Three back" is found where less
than three back was in training.
""",
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
    claims=(
        Claim(
            "At 48 symbols, a model with sinusoids that was trained on at most 12 symbols is less accurate than one trained on up to 48.",
            difference("sinusoidal", "sinusoidal, trained to 48", FAR),
            "accuracy at 4 times the trained length",
            0.2,
            "less",
        ),
        Claim(
            "Trained on at most 12 symbols, a model with RoPE is more accurate at 48 symbols than one with sinusoids.",
            difference("RoPE", "sinusoidal", FAR),
            "accuracy at 4 times the trained length",
            0.2,
            about="remedy",
        ),
        Claim(
            "Trained on at most 12 symbols, a model with Shaw's relative vectors is more accurate at 48 symbols than one with sinusoids.",
            difference("Shaw relative", "sinusoidal", FAR),
            "accuracy at 4 times the trained length",
            0.2,
            about="remedy",
        ),
        Claim(
            "A model with T5's bias, a relative encoding, is less accurate at 48 symbols than at 12, the longest length of its training.",
            rise("T5 bias", FAR, AT[1.0]),
            "accuracy at 4 times the trained length minus at 1",
            0.1,
            "less",
            about="condition",
        ),
        Claim(
            "A model with a learned table cannot run on longer sequences than in training: its table has no row for the new positions.",
            _has_no_row,
            "share of models that cannot run at 18 symbols",
            0.5,
            about="condition",
        ),
        Claim(
            "At the trained length, a model with sinusoids is more accurate than a model with ALiBi after the same training.",
            difference("sinusoidal", "ALiBi", AT[1.0]),
            "accuracy at the trained length, sinusoids minus ALiBi",
            0.3,
            about="condition",
        ),
        Claim(
            "At the trained length, a model with sinusoids is more accurate than a model without encoding after the same training.",
            difference("sinusoidal", "no encoding", AT[1.0]),
            "accuracy at the trained length, sinusoids minus no encoding",
            0.3,
            about="condition",
        ),
        Claim(
            "At twice the trained length, position interpolation without further training makes a model with RoPE less accurate.",
            difference("RoPE, interpolated", "RoPE", AT[2.0]),
            "accuracy at twice the trained length",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "In a copying task at 1.5 times the trained length, ALiBi, T5's bias and no encoding are all more accurate than RoPE.",
            _relative_over_rope,
            "accuracy at 1.5 times the trained length, the lowest of the three minus RoPE",
            0.1,
            about="condition",
            extended=True,
        ),
        Claim(
            "In a copying task, position interpolation makes a model with RoPE more accurate at 1.5 times the trained length.",
            difference("copy, RoPE, interpolated", "copy, RoPE", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "In a copying task at 1.5 times the trained length, a model with RoPE is more accurate than a model with sinusoids.",
            difference("copy, RoPE", "copy, sinusoidal", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.05,
            about="condition",
            extended=True,
        ),
        Claim(
            "In a copying task at 1.5 times the trained length, a model without encoding is more accurate than a model with ALiBi.",
            difference("copy, no encoding", "copy, ALiBi", COPY_FAR),
            "accuracy at 1.5 times the trained length",
            0.05,
            about="condition",
            extended=True,
        ),
        *longer_text.CLAIMS,
    ),
    key_figure=KeyFigure(
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
        also=(2, 3),
    ),
    remedies=(
        "Choose a relative encoding that fits the task: RoPE or Shaw's vectors if exact offsets count, ALiBi if near tokens matter most.",
        "Stretch a trained model with RoPE to its new length by YaRN or NTK scaling, and train it there for a few hundred steps more.",
        "Train on some sequences of the length that you need, and measure at that length before you rely on the model.",
    ),
    sources=(
        Source("Press et al. 2022, Train Short, Test Long, section 2 and table 2", "https://arxiv.org/abs/2108.12409"),
        Source(
            "Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization in Transformers, figure 1",
            "https://arxiv.org/abs/2305.19466",
        ),
        Source(
            "Shaw et al. 2018, Self-Attention with Relative Position Representations",
            "https://arxiv.org/abs/1803.02155",
        ),
        Source(
            "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
            "https://arxiv.org/abs/2104.09864",
        ),
        Source(
            "Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer (T5), section 2.1",
            "https://arxiv.org/abs/1910.10683",
        ),
        Source(
            "Chen et al. 2023, Extending Context Window of Large Language Models via Positional Interpolation",
            "https://arxiv.org/abs/2306.15595",
        ),
        Source(
            "Peng et al. 2023, YaRN: Efficient Context Window Extension of Large Language Models",
            "https://arxiv.org/abs/2309.00071",
        ),
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
    notes=(
        "The training sequences have 5 to 12 symbols (5 to 48 where the model is trained on up to 48). Longer ones are tested without "
        "further training.",
        "Position interpolation slows every rotation of RoPE by the ratio of tested to trained length. Up to the trained length it is "
        "off.",
        "Not every encoding learns this task in so few steps. If an encoding is not accurate at the trained length, its numbers at other "
        "lengths tell nothing about length.",
        "YaRN leaves pairs of numbers alone that turn often enough over the trained length: 32 times as published, 4 times in the "
        "copying task here. There the fastest pair turns only 2.4 times over the 15 trained positions.",
    ),
)
