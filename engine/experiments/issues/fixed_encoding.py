"""fixed-encoding: a fixed table of waves where the relation is a fixed shift, a fixed order, or told by the content."""

from __future__ import annotations

from collections.abc import Mapping

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import Issue

Settings = Mapping[str, object]
PERMUTATION: Settings = {"task": "permutation"}
THREE_BACK: Settings = {"task": "k_back", "k": 3}
CONTENT: Settings = {"task": "content_offset"}


def _arm(
    name: str, role: Role, encoding: str, task: Settings = PERMUTATION, *, extended: bool = False, **settings: object
) -> Arm:
    return Arm(name, role, {**task, **settings, "pos_encoding": encoding}, extended=extended)


ISSUE = Issue(
    slug="fixed-encoding",
    group="encoding",
    title="A fixed encoding for a relation that is no shift",
    summary=(
        "Sinusoids make looking a fixed number of places back easy. Where each position has to look to a place of its own, a "
        "fixed encoding learns slowly what a learned table learns at once."
    ),
    mechanism=r"""
Sinusoids satisfy $P_{i-k} = R_k P_i$ with one rotation $R_k$ for all $i$ (Vaswani et al. 2017, section 3.5): one matrix
$W_q^\top W_k \approx R_k$ answers every position of "$k$ back". Under a permutation the answer is $y_i = x_{\pi(i)}$, and the matrix has to
satisfy, for all $i$ at once,
$$P_i^\top W_q^\top W_k\, P_{\pi(i)} > P_i^\top W_q^\top W_k\, P_j \qquad \text{for every } j \ne \pi(i).$$
Neighbouring rows of a sinusoid are alike (cosine .957 at width 32), so that positions which must look to quite different
places start from nearly the same query. The rows of a learned table start out nearly orthogonal and can move. An encoding of
offsets alone (RoPE, T5, Shaw) has no $i$ to look up $\pi(i)$ by, except what it infers from the edges. Where instead the *content*
names the offset, $y_i = c_{i - o_i}$, an encoding in the score serves best: the query chooses among offsets.
""",
    base={
        "family": "encoder",
        "vocab_size": 8,
        "seq_len": 16,
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 4,
        "learning_rate": 0.005,
        "schedule": "cosine",
        "steps": 300,
    },
    arms=(
        _arm("sinusoidal", "fault", "sinusoidal"),
        _arm("learned table", "remedy", "learned"),
        _arm("RoPE", "comparison", "rope"),
        _arm("sinusoidal, rate .01", "comparison", "sinusoidal", learning_rate=0.01),
        _arm("3 back, sinusoidal", "control", "sinusoidal", THREE_BACK),
        _arm("content offset, sinusoidal", "comparison", "sinusoidal", CONTENT),
        _arm("content offset, learned table", "comparison", "learned", CONTENT),
        _arm("content offset, RoPE", "remedy", "rope", CONTENT),
        _arm("sinusoidal, 900 steps", "comparison", "sinusoidal", steps=900, extended=True),
        _arm("T5 bias", "comparison", "t5_bias", extended=True),
        _arm("Shaw relative", "comparison", "shaw", extended=True),
        _arm("3 back, learned table", "comparison", "learned", THREE_BACK, extended=True),
        _arm("no encoding", "comparison", "nope", extended=True),
        _arm("RoPE, 2 layers, 900 steps", "comparison", "rope", n_layers=2, steps=900, extended=True),
        _arm("3 back, RoPE", "comparison", "rope", THREE_BACK, extended=True),
        _arm("content offset, Shaw relative", "remedy", "shaw", CONTENT, extended=True),
    ),
    claims=(
        Claim(
            "On a fixed permutation sinusoids do worse than on 3 back, with everything else equal.",
            difference("sinusoidal", "3 back, sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            "less",
        ),
        Claim(
            "A learned table learns the permutation.",
            difference("learned table", "sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
        Claim(
            "An encoding of offsets does not learn it either: RoPE against the learned table.",
            difference("RoPE", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "Nor does T5's bias.",
            difference("T5 bias", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
            extended=True,
        ),
        Claim(
            "It is speed: at twice the learning rate sinusoids learn much more of the permutation.",
            difference("sinusoidal, rate .01", "sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
            condition="learning rate .01 instead of .005",
        ),
        Claim(
            "On a fixed permutation a learned table does worse than on 3 back.",
            difference("learned table", "3 back, learned table", "accuracy"),
            "accuracy",
            0.05,
            "less",
            about="condition",
            extended=True,
        ),
        Claim(
            "Where the content tells the offset the order turns: RoPE does better than a learned table.",
            difference("content offset, RoPE", "content offset, learned table", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
        ),
        Claim(
            "There sinusoids do better than a learned table.",
            difference("content offset, sinusoidal", "content offset, learned table", "accuracy"),
            "accuracy",
            0.05,
            about="condition",
        ),
        Claim(
            "It is speed, not incapacity: with three times the steps sinusoids come close to the learned table.",
            difference("sinusoidal, 900 steps", "sinusoidal", "accuracy"),
            "accuracy",
            0.3,
            about="condition",
            condition="900 steps instead of 300",
            extended=True,
        ),
    ),
    remedies=(
        "Where positions have roles of their own (fields of a record, squares of a board) use a learned table.",
        "Where the relation is an offset, fixed or told by the content, use RoPE.",
        "Before blaming a fixed encoding, give it a higher learning rate or three times the steps.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
    ),
    notes=(
        "The permutation is the same for all seeds; seeds differ in first weights and sequences. `--permutation-seed` gives another.",
        "Tokens, sinusoids and table have the same scale at the start.",
    ),
)
