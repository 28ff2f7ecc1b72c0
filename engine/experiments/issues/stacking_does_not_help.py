"""stacking-does-not-help: more sinusoidal layers against one layer that is told where its tokens stand."""

from engine.experiments.experiment import Arm, Claim, difference, rise
from engine.experiments.issues.issue import Issue


def _sinusoidal(layers: int, role: str, *, extended: bool = False) -> Arm:
    points = tuple((float(layer), f"position_probe.{layer}") for layer in range(layers + 1))
    return Arm(
        "one sinusoidal layer" if layers == 1 else f"{layers} sinusoidal layers",
        role,  # type: ignore[arg-type]
        {"n_layers": layers},
        measurements=("position_probe", "neighbour_cosine"),
        extended=extended,
        points=points,
    )


ISSUE = Issue(
    slug="stacking-does-not-help",
    group="encoding",
    title="Stacking layers instead of telling positions better",
    summary=(
        "Where a model finds its positions hard to use, more layers of the same may hardly help; another encoding does, with a "
        "single layer."
    ),
    mechanism=r"""
To look two places back with sinusoids, a head needs $W_q, W_k$ under which $P_i^\top W_q^\top W_k P_j$ is largest at $j = i - 2$. Such a
rotation exists, since $P_{i-2} = R\,P_i$ with one fixed $R$; but it has to be found, through embeddings in which the token's part is
as large, and every added layer has to find it too, or work on what the layer below has not found. RoPE has the offset in the
score from the first step: $q_i^\top R_{j-i}\, k_j$.

It is *not* that neighbouring sinusoids blur as sequences grow: their cosine
$$\cos(P_i, P_{i+1}) = \tfrac{2}{d} \textstyle\sum_j \cos(b^{-2j/d})$$
contains neither $i$ nor the length $n$. What does blur is a position squeezed into a fixed range, $i \to i L / n$: there the cosine is
$\tfrac{2}{d} \sum_j \cos(b^{-2j/d} L / n)$, which goes to 1.
""",
    base={
        "task": "k_back",
        "k": 2,
        "seq_len": 64,
        "batch_size": 8,
        "d_model": 32,
        "n_heads": 4,
        "learning_rate": 0.003,
        "schedule": "cosine",
        "steps": 200,
        "pos_encoding": "sinusoidal",
    },
    arms=(
        _sinusoidal(4, "fault"),
        _sinusoidal(2, "comparison"),
        _sinusoidal(1, "control"),
        Arm("one RoPE layer", "remedy", {"pos_encoding": "rope", "n_layers": 1}),
        Arm("one sinusoidal layer, rate .01", "comparison", {"learning_rate": 0.01, "n_layers": 1}),
        _sinusoidal(6, "comparison", extended=True),
        Arm("2 RoPE layers", "remedy", {"pos_encoding": "rope", "n_layers": 2}, extended=True),
        Arm("4 sinusoidal layers, rate .01", "comparison", {"learning_rate": 0.01, "n_layers": 4}, extended=True),
    ),
    claims=(
        Claim(
            "Four sinusoidal layers stay behind a single layer with RoPE.",
            difference("4 sinusoidal layers", "one RoPE layer", "accuracy"),
            "accuracy",
            0.2,
            "less",
        ),
        Claim(
            "In place of more layers another encoding helps: one layer with RoPE against one with sinusoids.",
            difference("one RoPE layer", "one sinusoidal layer", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
        Claim(
            "Four sinusoidal layers do much better than one.",
            difference("4 sinusoidal layers", "one sinusoidal layer", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
        ),
        Claim(
            "Four sinusoidal layers do better than two.",
            difference("4 sinusoidal layers", "2 sinusoidal layers", "accuracy"),
            "accuracy",
            0.1,
            about="condition",
        ),
        Claim(
            "It is a matter of training, not of what a layer can do: a higher learning rate alone helps one sinusoidal layer.",
            difference("one sinusoidal layer, rate .01", "one sinusoidal layer", "accuracy"),
            "accuracy",
            0.2,
            about="condition",
            condition="learning rate .01 instead of .003",
        ),
        Claim(
            "The position becomes harder to read off the stream, layer by layer.",
            rise("4 sinusoidal layers", "position_probe.4", "position_probe.0"),
            "accuracy of the probe, last layer minus embedding",
            0.1,
            "less",
            about="condition",
        ),
        Claim(
            "Neighbouring sinusoids look more alike as sequences grow.",
            rise("one sinusoidal layer", "neighbour_cosine@512", "neighbour_cosine@8"),
            "cosine at length 512 minus at 8",
            0.005,
            about="condition",
        ),
        Claim(
            "They do where positions are squeezed into a fixed range.",
            rise("one sinusoidal layer", "squeezed_cosine@512", "squeezed_cosine@8"),
            "cosine at length 512 minus at 8",
            0.005,
            about="condition",
        ),
        Claim(
            "Six sinusoidal layers do better than four.",
            difference("6 sinusoidal layers", "4 sinusoidal layers", "accuracy"),
            "accuracy",
            0.1,
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Change the encoding before the depth: RoPE, or another that puts the offset into the score.",
        "Tune learning rate and warm-up for the encoding you have before you call it incapable.",
        "Probe the position layer by layer: if it can be read, the encoding is there and its use is what is missing.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
        "Su et al. 2021, RoFormer, section 3",
        "Alain and Bengio 2016, Understanding Intermediate Layers Using Linear Classifier Probes",
    ),
    x_label="layer (0 is the embedding)",
    notes=(
        "The probe is linear, in closed form, fitted on 192 held-out sequences and judged on 64 others; chance is 1/64.",
        "Length 64, batches of 8 and 200 steps are a small budget; the comparison is at this budget.",
    ),
)
