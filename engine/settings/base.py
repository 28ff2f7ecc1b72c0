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
    seq_len: int = setting(6, "Length", "Symbols in the task's input, at most, while training.", group="Task", ge=2, le=1024)
    min_seq_len: int | None = setting(
        None, "Shortest length", "Train on lengths from here up to the sequence length. Auto: always that one.",
        group="Task", ge=2, le=1024,
    )
    length_decay: float = setting(
        1.0, "Length decay",
        "How frequent each length is in training beside the next shorter one: 1 is uniform, less a geometric law, cut off.",
        group="Task", ge=0.01, le=1.0,
    )
    test_lengths: tuple[int, ...] = setting(
        (), "Test lengths", "Also test at these lengths, which may be longer than any trained.", group="Task"
    )

    family: str = setting("decoder", "Family", "What a position may see, and how the answer is written.", group="Shape")
    d_model: int = setting(32, "Width (d_model)", "Numbers in each token's vector.", group="Shape", ge=2, le=2048)
    n_layers: int = setting(1, "Depth", "How many blocks are stacked.", group="Shape", ge=1, le=48)
    n_heads: int = setting(1, "Heads", "Attention heads in each layer.", group="Shape", ge=1, le=64)
    d_head: int | None = setting(
        None, "Head width (d_head)", "Numbers in each head's query and key. Auto: d_model / heads.",
        group="Shape", ge=1, le=512,
    )
    d_ff: int | None = setting(
        None, "MLP width (d_ff)", "Hidden units of the MLP. Auto: twice d_model. SwiGLU has two thirds of them.",
        group="Shape", ge=1, le=8192,
    )

    pos_encoding: str = setting("learned", "Positional encoding", "How the model is told where a token stands.", group="Encoding")
    token_init_std: float = setting(
        1.0, "Token init scale", "Standard deviation of the token embedding's first values.",
        group="Encoding", ge=0.0, le=10.0,
    )

    tie_embeddings: bool = setting(
        False, "Tied embeddings",
        "The output layer's matrix is the token embedding itself; start that at a small scale, 0.1 say.", group="Encoding",
    )
    randomized_positions: int = setting(
        1, "Randomized positions",
        "Train at positions drawn in ascending order from a range so many times the longest length. 1: the usual 0, 1, 2, and so on.",
        group="Encoding", ge=1, le=64,
    )
    position_dropout: float = setting(
        0.0, "Position dropout",
        "Share of training sequences to whose embeddings no positions are added; none while testing.",
        group="Encoding", ge=0.0, le=0.9,
    )
    drop_encoding_at: float = setting(
        1.0, "Encoding dropped at", "Share of the steps after which the encoding is no longer applied, nor in any test. 1: never.",
        group="Encoding", ge=0.05, le=1.0,
    )

    attention_score: Literal["scaled_dot", "dot", "additive", "cosine"] = setting(
        "scaled_dot", "Score", "How a query is compared with a key.", group="Attention",
        labels={
            "scaled_dot": "Scaled dot product", "dot": "Dot product, no 1/√d_head", "additive": "Additive (Bahdanau)",
            "cosine": "Cosine",
        },
    )
    qk_norm: bool = setting(False, "QK-norm", "LayerNorm of each query and key of a head before they are compared.", group="Attention")
    kv_heads: int | None = setting(
        None, "Key and value heads",
        "So many heads of keys and values, each read by as many heads of queries (grouped queries). Auto: one for each head.",
        group="Attention", ge=1, le=64,
    )
    value_residual: float = setting(
        0.0, "Value residual", "Share of the first layer's values in the values of each later layer; one half is usual.",
        group="Attention", ge=0.0, le=1.0,
    )
    local_mix: int = setting(
        0, "Neighbours mixed in",
        "In each block, a convolution over so many tokens before each is added to what attention reads. 0: none.",
        group="Attention", ge=0, le=16,
    )
    softmax_plus_one: bool = setting(
        False, "Softmax plus one", "One more in the softmax's denominator: weights may sum to less than one, and the rest reads nothing.",
        group="Attention",
    )
    attention_gate: bool = setting(
        False, "Gate", "What each head reads, times a sigmoid of the token that reads: a head can be shut.", group="Attention"
    )
    attention_impl: Literal["fused", "materialised"] = setting(
        "fused", "Implementation", "One fused kernel, or the scores written out as a matrix. Same numbers.",
        group="Attention", labels={"fused": "Fused", "materialised": "Materialised"},
    )

    norm: Literal["pre", "post", "none"] = setting(
        "pre", "Normalisation", "LayerNorm before each branch, after each sum, or nowhere.", group="Block",
        labels={"pre": "Pre-LN", "post": "Post-LN", "none": "None"},
    )
    norm_kind: Literal["layer", "rms"] = setting(
        "layer", "Kind of norm", "RMSNorm divides by the size alone: it subtracts no mean and adds no bias. QK-norm is of this kind, too.",
        group="Block", labels={"layer": "LayerNorm", "rms": "RMSNorm"},
    )
    depth_scale: bool = setting(
        False, "Norm by depth", "With pre-LN, each norm is divided by the square root of its layer's number.", group="Block"
    )
    skips: bool = setting(True, "Skip connections", "Add each branch to its input.", group="Block")
    residual_scale: float = setting(
        1.0, "Residual scale", "Multiplies each branch; 1/√(2·depth) keeps the sum's size.", group="Block",
        ge=0.0, le=2.0,
    )
    mlp: bool = setting(True, "MLP", "The dense layers after attention in each block.", group="Block")
    activation: Literal["relu", "gelu", "swiglu", "none"] = setting(
        "gelu", "Activation", "The MLP's nonlinearity. SwiGLU has a third matrix, and two thirds of the hidden units: as many weights.",
        group="Block", labels={"relu": "ReLU", "gelu": "GELU", "swiglu": "SwiGLU", "none": "None (linear)"},
    )
    dropout: float = setting(0.0, "Dropout", "Share of values dropped while training.", group="Block", ge=0.0, le=0.9)
    share_layers: bool = setting(False, "Layers shared", "One block's weights used at every depth.", group="Block")

    optimizer: Literal["adamw", "sgd", "muon"] = setting(
        "adamw", "Optimizer", "Muon takes the matrices of the blocks; AdamW the rest.", group="Training",
        labels={"adamw": "AdamW", "sgd": "SGD", "muon": "Muon"},
    )
    learning_rate: float = setting(0.01, "Learning rate", "The peak of the schedule.", group="Training", ge=1e-6, le=10.0)
    schedule: Literal["constant", "cosine", "linear"] = setting(
        "constant", "Schedule", "How the learning rate falls after warm-up.", group="Training",
        labels={"constant": "Constant", "cosine": "Cosine to zero", "linear": "Linear to zero"},
    )
    warmup_steps: int = setting(20, "Warm-up steps", "Steps of linear rise to the peak.", group="Training", ge=0, le=100_000)
    weight_decay: float = setting(0.0, "Weight decay", "Decoupled; biases and norms have none.", group="Training", ge=0.0, le=10.0)
    grad_clip: float | None = setting(
        1.0, "Gradient clip", "Largest global gradient norm. Auto: no clipping.", group="Training", ge=1e-3, le=1e3
    )
    batch_size: int = setting(32, "Batch size", "Sequences a step.", group="Training", ge=1, le=4096)
    steps: int = setting(300, "Steps", "Optimizer steps in the run.", group="Training", ge=1, le=1_000_000)
    dtype: Literal["float32", "bfloat16_mixed", "bfloat16", "float16"] = setting(
        "float32", "Precision",
        "Mixed: weights, gradients and optimizer in float32, matrix products in bfloat16, as large models are trained. "
        "Pure: all of it in 16 bits, without a float32 copy or loss scaling, so that small updates are lost; models are seldom trained so.",
        group="Training",
        labels={
            "float32": "float32", "bfloat16_mixed": "bfloat16, mixed", "bfloat16": "bfloat16, pure",
            "float16": "float16, pure",
        },
    )
    tf32: bool = setting(
        True, "TF32",
        "On CUDA GPUs that have it, matrix products of float32 numbers read only 10 bits of the mantissa, and are faster. "
        "Off: exact. On a CPU it changes nothing.", group="Training",
    )
    seed: int = setting(0, "Seed", "Decides first weights, data and dropout.", group="Training", ge=0, le=2**31 - 1)
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "Device", "Auto takes the accelerator where its predicted time of a step is the shorter one.",
        group="Training", labels={"auto": "Auto", "cpu": "CPU", "cuda": "CUDA GPU", "mps": "Apple GPU"},
    )

    dataset_size: int | None = setting(
        None, "Training sequences", "A fixed set of so many. Auto: fresh ones each step.", group="Data", ge=1, le=1_000_000
    )
    pretrain_steps: int = setting(
        0, "Pre-training steps", "So many of the steps come first, on plenty of related sequences; 0: none.",
        group="Data", ge=0, le=1_000_000,
    )
    pretrain_on: Literal["sister", "next_token"] = setting(
        "sister", "Pre-train on", "What the related sequences are.", group="Data",
        labels={"sister": "Sister task (same rule, other symbols)", "next_token": "Next token, without the answers"},
    )
    label_noise: float = setting(0.0, "Label noise", "Share of training answers replaced by random ones.", group="Data", ge=0.0, le=1.0)

    mask_fault: Literal["none", "missing", "transposed", "off_by_one"] = setting(
        "none", "Mask fault",
        "Break the causal mask on purpose. The right mask lets a position see itself and the positions before it.", group="Faults",
        labels={
            "none": "None", "missing": "Missing", "transposed": "Transposed", "off_by_one": "Off by one (sees the next token)",
        },
    )
    softmax_axis: Literal["key", "query"] = setting(
        "key", "Softmax axis", "Over the query axis is a fault: weights of one query need not sum to one.",
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
        """The learned vectors of a norm: scale and bias, or the scale alone."""
        return 1 if self.norm_kind == "rms" else 2

    @property
    def gated_mlp(self) -> bool:
        """True if the MLP has a gate, which is a third matrix."""
        return self.activation == "swiglu"

    @property
    def mlp_width(self) -> int:
        width = self.d_ff or 2 * self.d_model
        return max(1, round(2 * width / 3)) if self.gated_mlp else width
