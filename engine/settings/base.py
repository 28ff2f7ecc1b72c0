"""The plain settings of every run: name, bounds, default, label and help of each are declared here only.

The registries of tasks and encodings build on these; :mod:`engine.config.run_config` composes both.
"""

from typing import Literal

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.settings.fields import Parameters, setting


class BaseConfig(Parameters):
    # fmt: off
    task: str = setting("reverse", "Task", "What the model has to learn.", group="Task")
    seq_len: int = setting(6, "Length", "Symbols in the longest input.", group="Task", ge=2, le=1024)
    min_seq_len: int | None = setting(
        None, "Shortest length", "Train on lengths from this one up to Length. Auto: Length only.",
        group="Task", ge=2, le=1024,
    )
    length_decay: float = setting(
        1.0, "Length decay",
        "How often each length occurs, relative to the next shorter one. 1: all equally often.",
        group="Task", ge=0.01, le=1.0,
    )
    test_lengths: tuple[int, ...] = setting(
        (), "Test lengths", "Also test at these lengths, also beyond the trained ones.", group="Task"
    )

    family: str = setting("decoder", "Family", "Which positions a position can read, and how the model writes its answer.", group="Shape")
    d_model: int = setting(32, "Width (d_model)", "Numbers in each token's vector.", group="Shape", ge=2, le=2048)
    n_layers: int = setting(1, "Depth", "Number of layers (blocks).", group="Shape", ge=1, le=48)
    n_heads: int = setting(1, "Heads", "Attention heads in each layer.", group="Shape", ge=1, le=64)
    d_head: int | None = setting(
        None, "Head width (d_head)", "Numbers in each head's query and key. Auto: d_model / heads.",
        group="Shape", ge=1, le=512,
    )
    d_ff: int | None = setting(
        None, "MLP width (d_ff)", "Hidden units of the MLP. Auto: twice d_model. SwiGLU has two thirds of them.",
        group="Shape", ge=1, le=8192,
    )

    pos_encoding: str = setting("learned", "Positional encoding", "How the model knows where a token is.", group="Encoding")
    token_init_std: float = setting(
        1.0, "Token init scale", "Standard deviation of the token embedding's first values.",
        group="Encoding", ge=0.0, le=10.0,
    )

    tie_embeddings: bool = setting(
        False, "Tied embeddings",
        "The output layer uses the token embedding. Start that at a small scale, such as 0.1.", group="Encoding",
    )
    randomized_positions: int = setting(
        1, "Randomized positions",
        "Train at ascending random positions, up to this many times the longest length. 1: 0, 1, 2, and so on.",
        group="Encoding", ge=1, le=64,
    )
    position_dropout: float = setting(
        0.0, "Position dropout",
        "Share of training sequences without positions. Tests always have them.",
        group="Encoding", ge=0.0, le=0.9,
    )
    drop_encoding_at: float = setting(
        1.0, "Encoding dropped at", "Share of the steps after which training and tests have no encoding. 1: never.",
        group="Encoding", ge=0.05, le=1.0,
    )

    attention_score: Literal["scaled_dot", "dot", "additive", "cosine"] = setting(
        "scaled_dot", "Score", "How attention compares a query with a key.", group="Attention",
        labels={
            "scaled_dot": "Scaled dot product", "dot": "Dot product, no 1/√d_head", "additive": "Additive (Bahdanau)",
            "cosine": "Cosine",
        },
    )
    qk_norm: bool = setting(False, "QK-norm", "Normalises each query and key before the score.", group="Attention")
    kv_heads: int | None = setting(
        None, "Key and value heads",
        "Heads of keys and values, shared by the heads of queries. Auto: one for each head.",
        group="Attention", ge=1, le=64,
    )
    value_residual: float = setting(
        0.0, "Value residual", "Share of the first layer's values in each later layer. One half is usual.",
        group="Attention", ge=0.0, le=1.0,
    )
    local_mix: int = setting(
        0, "Neighbours mixed in",
        "Adds a convolution over this many earlier tokens to the input of attention. 0: none.",
        group="Attention", ge=0, le=16,
    )
    softmax_plus_one: bool = setting(
        False, "Softmax plus one", "Adds 1 to the softmax's denominator, so weights may sum to less than one.",
        group="Attention",
    )
    attention_gate: bool = setting(
        False, "Gate", "Multiplies each head's output by a sigmoid of the reading token. It can turn a head off.", group="Attention"
    )
    attention_impl: Literal["fused", "materialised"] = setting(
        "fused", "Implementation", "Compute scores block by block in one fused kernel, or store all. Same results.",
        group="Attention", labels={"fused": "Scores in blocks", "materialised": "Scores stored"},
    )

    norm: Literal["pre", "post", "none"] = setting(
        "pre", "Normalisation", "Norm before attention and MLP, after each sum, or nowhere.", group="Block",
        labels={"pre": "Pre-LN", "post": "Post-LN", "none": "None"},
    )
    norm_kind: Literal["layer", "rms"] = setting(
        "layer", "Kind of norm", "RMSNorm only divides by the size, without mean and bias. QK-norm uses this kind, too.",
        group="Block", labels={"layer": "LayerNorm", "rms": "RMSNorm"},
    )
    depth_scale: bool = setting(
        False, "Norm by depth", "With pre-LN, divides each norm by the square root of its layer's number.", group="Block"
    )
    skips: bool = setting(True, "Skip connections", "Add the output of attention and MLP to their input.", group="Block")
    residual_scale: float = setting(
        1.0, "Residual scale", "Multiplies the output of attention and MLP. 1/√(2·depth) keeps the size of the sum.", group="Block",
        ge=0.0, le=2.0,
    )
    mlp: bool = setting(True, "MLP", "The dense layers after attention in each block.", group="Block")
    activation: Literal["relu", "gelu", "swiglu", "none"] = setting(
        "gelu", "Activation",
        "The MLP's nonlinearity. SwiGLU has a third matrix but fewer hidden units. The number of weights stays the same.",
        group="Block", labels={"relu": "ReLU", "gelu": "GELU", "swiglu": "SwiGLU", "none": "None (linear)"},
    )
    dropout: float = setting(0.0, "Dropout", "Share of values set to zero in training.", group="Block", ge=0.0, le=0.9)
    share_layers: bool = setting(False, "Layers shared", "All layers use the weights of one block.", group="Block")

    optimizer: Literal["adamw", "sgd", "muon"] = setting(
        "adamw", "Optimizer", "Muon updates the matrices of the blocks, AdamW the rest.", group="Training",
        labels={"adamw": "AdamW", "sgd": "SGD", "muon": "Muon"},
    )
    learning_rate: float = setting(0.01, "Learning rate", "The peak of the schedule.", group="Training", ge=1e-6, le=10.0)
    schedule: Literal["constant", "cosine", "linear"] = setting(
        "constant", "Schedule", "How the learning rate falls after warm-up.", group="Training",
        labels={"constant": "Constant", "cosine": "Cosine to zero", "linear": "Linear to zero"},
    )
    warmup_steps: int = setting(20, "Warm-up steps", "Steps of linear rise to the peak.", group="Training", ge=0, le=100_000)
    weight_decay: float = setting(
        0.0, "Weight decay", "Each step also shrinks the weights (decoupled). Biases and norms do not shrink.",
        group="Training", ge=0.0, le=10.0,
    )
    grad_clip: float | None = setting(
        1.0, "Gradient clip", "Largest global gradient norm. Auto: no clipping.", group="Training", ge=1e-3, le=1e3
    )
    batch_size: int = setting(32, "Batch size", "Sequences per step.", group="Training", ge=1, le=4096)
    steps: int = setting(300, "Steps", "Optimizer steps in the run.", group="Training", ge=1, le=1_000_000)
    dtype: Literal["float32", "bfloat16_mixed", "bfloat16", "float16"] = setting(
        "float32", "Precision",
        "Mixed: matrix products in bfloat16, the rest in float32, as for large models. "
        "Pure: everything in 16 bits, which loses small updates.",
        group="Training",
        labels={
            "float32": "float32", "bfloat16_mixed": "bfloat16, mixed", "bfloat16": "bfloat16, pure",
            "float16": "float16, pure",
        },
    )
    tf32: bool = setting(
        True, "TF32",
        "Faster float32 products on CUDA GPUs, with 10 bits of mantissa. Off: exact. A CPU ignores it.",
        group="Training",
    )
    seed: int = setting(0, "Seed", "Sets the initial weights, data and dropout.", group="Training", ge=0, le=2**31 - 1)
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "Device", "Auto takes the accelerator if it is predicted to be faster.",
        group="Training", labels={"auto": "Auto", "cpu": "CPU", "cuda": "CUDA GPU", "mps": "Apple GPU"},
    )

    dataset_size: int | None = setting(
        None, "Training sequences", "Size of a fixed training set. Auto: fresh sequences at each step.", group="Data", ge=1, le=1_000_000
    )
    pretrain_steps: int = setting(
        0, "Pre-training steps", "First steps, on fresh related sequences. 0: none.",
        group="Data", ge=0, le=1_000_000,
    )
    pretrain_on: Literal["sister", "next_token"] = setting(
        "sister", "Pre-train on", "The related sequences.", group="Data",
        labels={"sister": "Sister task (same rule, other symbols)", "next_token": "Next token, without the answers"},
    )
    label_noise: float = setting(0.0, "Label noise", "Share of random training answers.", group="Data", ge=0.0, le=1.0)

    mask_fault: Literal["none", "missing", "transposed", "off_by_one"] = setting(
        "none", "Mask fault",
        "Breaks the causal mask on purpose. A correct mask hides all later positions.", group="Faults",
        labels={
            "none": "None", "missing": "Missing", "transposed": "Transposed", "off_by_one": "Off by one (sees the next token)",
        },
    )
    softmax_axis: Literal["key", "query"] = setting(
        "key", "Softmax axis", "Over queries is a fault: the weights of one query need not sum to one.",
        group="Faults", labels={"key": "Keys", "query": "Queries (fault)"},
    )
    # fmt: on

    @field_validator("test_lengths")
    @classmethod
    def _lengths(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(not 2 <= length <= 2048 for length in value) or len(value) > 16:
            raise PydanticCustomError("choice", "at most 16 whole numbers from 2 to 2048, separated by commas")
        return tuple(sorted(set(value)))

    @property
    def head_width(self) -> int:
        return self.d_head or self.d_model // self.n_heads

    @property
    def key_heads(self) -> int:
        return self.kv_heads or self.n_heads

    @property
    def norm_tensors(self) -> int:
        return 1 if self.norm_kind == "rms" else 2  # an RMSNorm has no bias

    @property
    def gated_mlp(self) -> bool:
        return self.activation == "swiglu"

    @property
    def mlp_width(self) -> int:
        width = self.d_ff or 2 * self.d_model
        return max(1, round(2 * width / 3)) if self.gated_mlp else width
