"""fixed-encoding: a fixed table of waves where the relation is a fixed shift, a fixed order, or told by the content."""

from __future__ import annotations

from collections.abc import Mapping

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

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
    title="Sinusoids and a fixed shuffle",
    summary=(
        "Sinusoids are made for looking a fixed number of places back, the same number at every position. Here we ask how well they serve "
        "where each position has to look at a place of its own, as in a fixed shuffle."
    ),
    mechanism=r"""
Let $P_i$ be the encoding of position $i$, and let the matrices $W_Q$ and $W_K$ make the queries and keys. As far as positions decide,
query $i$ looks at the key $j$ with the largest score $P_i^\top M P_j$, where $M = W_Q^\top W_K$.

**Three back.** Sinusoids satisfy $P_{i-k} = R_k P_i$ with one rotation $R_k$ for all $i$ (Vaswani et al. 2017, section 3.5). So one
matrix, $M = R_k^\top$, is right at every position: the score is then $P_{i-k}^\top P_j$, which is largest at $j = i - k$.

**A fixed shuffle.** A shuffle (permutation) $\pi$ asks for $y_i = x_{\pi(i)}$: the answer at position $i$ is the symbol at position
$\pi(i)$. Now $M$ has to satisfy for all $i$ at once
$$P_i^\top M P_{\pi(i)} > P_i^\top M P_j \qquad \text{for every } j \ne \pi(i).$$
Neighbouring sinusoids are alike: their cosine is .957 at width 32. Positions that must look at quite different places therefore
start from nearly the same query, and training is slow. The rows of a learned table start nearly orthogonal and can move. An encoding of
offsets alone (RoPE, T5's bias, Shaw's vectors) does not hand the model the position $i$ that it needs to find $\pi(i)$. The model can
only guess $i$ from the ends of the sequence.

**An offset told by the content.** In a third task each token says how far back to look: $y_i = c_{i - o_i}$, where $c_i$ is the symbol
and $o_i$ the offset at position $i$. Here an encoding that puts the offset into the score fits best, because the query can choose among
offsets.
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
            "A model with sinusoids is less accurate on a fixed shuffle than on looking three places back.",
            difference("sinusoidal", "3 back, sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            "less",
        ),
        Claim(
            "On a fixed shuffle, a model with a learned table is more accurate than a model with sinusoids.",
            difference("learned table", "sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
        Claim(
            "On a fixed shuffle, a model with RoPE, which encodes offsets only, is less accurate than a model with a learned table.",
            difference("RoPE", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "On a fixed shuffle, a model with T5's bias, which encodes offsets only, is less accurate than one with a learned table.",
            difference("T5 bias", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
            extended=True,
        ),
        Claim(
            "On a fixed shuffle, a model with sinusoids is more accurate with twice the learning rate.",
            difference("sinusoidal, rate .01", "sinusoidal", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
            condition="learning rate .01 instead of .005",
        ),
        Claim(
            "A model with a learned table is less accurate on a fixed shuffle than on looking three places back.",
            difference("learned table", "3 back, learned table", "accuracy"),
            "accuracy",
            0.05,
            "less",
            about="condition",
            extended=True,
        ),
        Claim(
            "Where the content tells how far back to look, a model with RoPE is more accurate than a model with a learned table.",
            difference("content offset, RoPE", "content offset, learned table", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
        ),
        Claim(
            "Where the content tells how far back to look, a model with sinusoids is more accurate than a model with a learned table.",
            difference("content offset, sinusoidal", "content offset, learned table", "accuracy"),
            "accuracy",
            0.05,
            about="condition",
        ),
        Claim(
            "On a fixed shuffle, a model with sinusoids is more accurate after three times as many training steps.",
            difference("sinusoidal, 900 steps", "sinusoidal", "accuracy"),
            "accuracy",
            0.3,
            about="condition",
            condition="900 steps instead of 300",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        sample="reads 7 5 4, must write 4 7 5: always third, first, second",
        question="A model with sinusoids learns to look three places back. Give it a fixed shuffle instead: what happens to the accuracy?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="the accuracy",
        change="With a fixed shuffle in place of looking three places back,",
        before=Row("Three back, sinusoids", "3 back, sinusoidal", "accuracy"),
        after=Row("Fixed shuffle, sinusoids", "sinusoidal", "accuracy"),
        others=(
            Row("Fixed shuffle, learned table", "learned table", "accuracy"),
            Row("Fixed shuffle, RoPE", "RoPE", "accuracy"),
            Row("Fixed shuffle, sinusoids, twice the learning rate", "sinusoidal, rate .01", "accuracy"),
        ),
        remedy="Use a learned table where each position has a role of its own, or train with a higher learning rate.",
        also=(1, 4),
    ),
    remedies=(
        "If each position has a role of its own (the fields of a record, the squares of a board), use a learned table.",
        "If the answer stands at an offset, fixed or told by the content, use RoPE.",
        "Before you blame a fixed encoding, train it with a higher learning rate or for three times as many steps.",
    ),
    sources=(
        Source("Vaswani et al. 2017, Attention Is All You Need, section 3.5", "https://arxiv.org/abs/1706.03762"),
        Source(
            "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
            "https://arxiv.org/abs/1705.03122",
        ),
        Source(
            "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
            "https://arxiv.org/abs/2104.09864",
        ),
    ),
    notes=(
        "The shuffle orders 16 symbols and is the same in all runs. Seeds differ in the first weights and in the sequences. The setting "
        "“Permutation” of the lab gives another shuffle.",
        "The embeddings of the symbols, the sinusoids and the learned table have the same scale at the start.",
    ),
)
