"""interpretability: with depth, which explanations still point at the token that the answer came from?"""

from engine.experiments.experiment import Arm, Claim, difference, rise
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

SHALLOW, DEEP = "1 layer", "6 layers"


ISSUE = Issue(
    slug="interpretability",
    group="depth",
    title="Does attention show where answers come from?",
    summary=(
        "Attention is often shown as an explanation: the answer came from where the model looked. Here we know where each answer comes "
        "from, so we can count how often attention and other explanations point at the right place in models of one and of six layers."
    ),
    mechanism=r"""
The task has a known truth. The model reads eight pairs of a key and a value, one pair a token, and then the asked key. The answer stands
in exactly one of the pairs, the right pair. An explanation gives each pair a score, and it points at the pair with the highest score.

The first layer attends to the tokens themselves. Layer $\ell$ attends to vectors $x^{(\ell-1)}_j$, the outputs of the layer before
at position $j$. These are mixtures of several tokens, so a large weight on position $j$ need not mean that token $j$ mattered. A model
may also find the pair in one layer and then only carry the answer along the skip connections. The explanations differ in what they
use. $A^{(\ell)}$ is the attention pattern of layer $\ell$, averaged over heads, and $L$ is the number of layers.

- **The last layer** uses $A^{(L)}$ alone. It leaves out all that the earlier layers did.
- **The average** uses the mean of all $A^{(\ell)}$.
- **Attention roll-out** counts the skip connection as half of each layer and multiplies the layers, the last one first:
  $R = \tfrac12(A^{(L)} + I) \cdots \tfrac12(A^{(1)} + I)$, where $I$ is the identity. The entry
  $R_{ij}$ is the share of token $j$ in the last output at position $i$.
- **The gradient's norm** says how strongly the score of the answer changes with the embedding of a pair. **Gradient times input**
  multiplies this gradient by the embedding.
- **Leaving out one pair** says how far the probability of the answer falls when no position may read that pair.
""",
    base={
        "task": "lookup",
        "family": "encoder",
        "pos_encoding": "nope",
        "n_keys": 8,
        "vocab_size": 8,
        "seq_len": 9,
        "d_model": 32,
        "n_heads": 4,
        "learning_rate": 0.003,
        "steps": 300,
    },
    arms=(
        Arm(DEEP, "fault", {"n_layers": 6}, "pointing.last", ("pointing", "head_pruning"), line="last layer's attention", x=6),
        Arm(SHALLOW, "control", {"n_layers": 1}, "pointing.last", ("pointing", "head_pruning"), line="last layer's attention", x=1),
        *(
            Arm(f"{n} layers", "comparison", {"n_layers": n}, "pointing.last", ("pointing", "head_pruning"),
                line="last layer's attention", x=n, extended=True)
            for n in (2, 3, 4)
        ),
    ),
    claims=(
        Claim(
            "The attention of the last layer points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.last"),
            "share of samples",
            0.2,
            "less",
            "both models answer correctly",
        ),
        Claim(
            "Attention roll-out, which multiplies all layers, points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.rollout"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "Gradient times input points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.gradient_x_input"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "The norm of the gradient points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.gradient_norm"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "Attention averaged over all layers points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.average"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "The method that leaves out one pair at a time points at the pair with the answer less often with six layers than with one.",
            difference(DEEP, SHALLOW, "pointing.leave_one_out"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "A model of six layers answers less accurately than a model of one layer.",
            difference(DEEP, SHALLOW, "accuracy"),
            "accuracy",
            0.02,
            "less",
            about="condition",
        ),
        Claim(
            "With six layers, attention of the best single layer points at the pair with the answer more often than attention of the last.",
            rise(DEEP, "pointing.best_layer", "pointing.last"),
            "share of samples",
            0.2,
            about="remedy",
        ),
        Claim(
            "With six layers, attention averaged over all layers points at the pair with the answer more often than attention of the last.",
            rise(DEEP, "pointing.average", "pointing.last"),
            "share of samples",
            0.2,
            about="remedy",
        ),
        Claim(
            "A model of six layers that loses half of its heads is more accurate if the least important heads go than if random heads go.",
            rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"),
            "accuracy with 12 of 24 heads removed",
            0.1,
            about="condition",
        ),
    ),
    key_figure=KeyFigure(
        sample="c1 a0 b3 f5 d2 g7 e4 h6 b? → 3, the value of b",
        question="Go from one layer to six: how often does the attention of the last layer point at the right pair, b3?",
        answers=("Less often", "As often", "More often"),
        quantity="Share of samples in which the last layer points at the right pair",
        subject="the share of samples in which the last layer points at the right pair",
        change="With six layers instead of one",
        before=Row("1 layer, attention of the last layer", SHALLOW, "pointing.last"),
        after=Row("6 layers, attention of the last layer", DEEP, "pointing.last"),
        remedy="Look at the attention of every layer, and check it by taking a token away.",
        also=(1, 7),
    ),
    remedies=(
        "Do not read the last layer alone. Look at every layer, and check what you see by taking the token away.",
        "Where there is time, prefer methods that change something (leaving a token out, or patching in another vector) to methods that "
        "only look.",
        "Remove the heads that the model does not need before you read the other heads.",
    ),
    sources=(
        Source("Jain and Wallace 2019, Attention is not Explanation", "https://arxiv.org/abs/1902.10186"),
        Source("Wiegreffe and Pinter 2019, Attention is not not Explanation", "https://arxiv.org/abs/1908.04626"),
        Source(
            "Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3", "https://arxiv.org/abs/2005.00928"
        ),
        Source("Shrikumar et al. 2016, Not Just a Black Box (gradient times input)", "https://arxiv.org/abs/1605.01713"),
        Source(
            "Li et al. 2016, Understanding Neural Networks through Representation Erasure (leaving out)",
            "https://arxiv.org/abs/1612.08220",
        ),
        Source("Michel et al. 2019, Are Sixteen Heads Really Better than One?, section 4", "https://arxiv.org/abs/1905.10650"),
    ),
    x_label="Layers",
    notes=(
        "Attention is averaged over heads. The position that asks is no candidate, so guessing points at the right pair one time in eight.",
        "The best layer is chosen on the samples on which it is scored. The best of six layers therefore looks a little too good.",
        "A head is removed by setting its output to zero. Its importance is how strongly the loss changes with the size of its output; "
        "importance and accuracy are measured on different samples.",
    ),
    evaluations=6,
)  # fmt: skip
