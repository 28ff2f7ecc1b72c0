"""interpretability: with depth, which explanations still point at the token that the answer came from?"""

from engine.experiments.experiment import Arm, Claim, difference, rise
from engine.experiments.issues.issue import Issue

SHALLOW, DEEP = "1 layer", "6 layers"


ISSUE = Issue(
    slug="interpretability",
    group="depth",
    title="Deeper is harder to interpret",
    summary=(
        "Attention is often shown as an explanation: the answer came from where the model looked. In a stack of layers the last one "
        "looks at vectors that are mixtures already, so its pattern need not point at the token that mattered."
    ),
    mechanism=r"""
Layer $\ell$ attends to $x^{(\ell-1)}_j$, not to token $j$. With skips and attention of equal weight token $j$'s share in position $i$ is
$$R = \prod_{\ell=1}^{L} \tfrac12\big(A^{(\ell)} + I\big),$$
the *attention roll-out*; the last factor $A^{(L)}$ alone leaves out all that came earlier. A model may do the look-up in any one layer
and then only carry the answer along the skip connection. The task has a known truth: of eight key-value pairs exactly one holds the
asked key, so each explanation points right or wrong.
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
            "In a deep model the last layer's attention no longer points at the token that the answer came from.",
            difference(DEEP, SHALLOW, "pointing.last"),
            "share of samples",
            0.2,
            "less",
            "6 layers against 1; both answer rightly",
        ),
        Claim(
            "Attention roll-out, made for deep models, loses the token too.",
            difference(DEEP, SHALLOW, "pointing.rollout"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "Gradient times input loses it as well.",
            difference(DEEP, SHALLOW, "pointing.gradient_x_input"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "The norm of the gradient loses it as well.",
            difference(DEEP, SHALLOW, "pointing.gradient_norm"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "Attention averaged over all layers loses it as well.",
            difference(DEEP, SHALLOW, "pointing.average"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "Leaving one token out and looking at the answer loses it as well.",
            difference(DEEP, SHALLOW, "pointing.leave_one_out"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "The deep model answers less well.",
            difference(DEEP, SHALLOW, "accuracy"),
            "accuracy",
            0.02,
            "less",
            about="condition",
        ),
        Claim(
            "Some one layer of the deep model does point at the token: the look-up is made there.",
            rise(DEEP, "pointing.best_layer", "pointing.last"),
            "share of samples above the last layer's",
            0.2,
            about="remedy",
        ),
        Claim(
            "Averaging attention over the layers points better than the last layer.",
            rise(DEEP, "pointing.average", "pointing.last"),
            "share of samples",
            0.2,
            about="remedy",
        ),
        Claim(
            "Half of the deep model's heads can go: chosen by gradient importance they cost less than at random.",
            rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"),
            "accuracy with 12 of 24 heads",
            0.1,
            about="condition",
        ),
    ),
    remedies=(
        "Do not read the last layer alone: look at every layer, and check a pattern by taking the token away.",
        "Prefer what intervenes (leave one out, patching) to what only looks, where there is time for it.",
        "Remove the heads that the loss does not need before reading the others.",
    ),
    sources=(
        "Jain and Wallace 2019, Attention is not Explanation",
        "Wiegreffe and Pinter 2019, Attention is not not Explanation",
        "Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3",
        "Michel et al. 2019, Are Sixteen Heads Really Better than One?, section 4",
    ),
    x_label="layers",
    notes=(
        "Attention is averaged over heads; the asking position itself is no candidate, so that guessing points right one time in eight.",
        "The best layer is chosen on the samples it is scored on: of six layers the maximum is a little flattered.",
        "A head is removed by setting its output to zero; importance and accuracy are taken from different samples.",
    ),
    evaluations=6,
)  # fmt: skip
