"""The model of a config with its initial weights, the weights file of a run, and the part of the model that a parameter belongs to."""

import json
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from torch import nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.files import replacing
from engine.foundation.once import once_per_change
from engine.foundation.provenance import provenance
from engine.model.baselines import Baseline
from engine.model.precision import weight_dtype
from engine.model.transformer import Transformer

M = TypeVar("M", bound=Transformer | Baseline)

PARTS = {"attention": "", "cross": "cross_"}
SAME = {"pattern": "q", "gate": "out"}


def build_model(config: RunConfig, *, n_tokens: int, n_outputs: int, max_positions: int) -> Transformer | Baseline:
    """Build a model with initial weights that depend on the config's seed alone, on the CPU, in the config's precision.

    ``n_tokens``: rows of the token embedding; ``n_outputs``: width of the head; ``max_positions``: rows of a learned table. The
    global random state stays as it was.
    """
    with torch.random.fork_rng(devices=[]):
        # Not torch.manual_seed, which would also seed every accelerator.
        torch.default_generator.manual_seed(config.seed)
        model = (
            Transformer(config, n_tokens=n_tokens, n_outputs=n_outputs, max_positions=max_positions)
            if config.architecture.attends
            else Baseline(config, n_tokens=n_tokens, n_outputs=n_outputs)
        )
        model.apply(_first_weights)
        if config.tie_embeddings:  # Press and Wolf 2017, Using the Output Embedding to Improve Language Models
            model.head.weight = model.embedding.weight  # type: ignore[assignment]
    return model.to(weight_dtype(config))


def _first_weights(module: nn.Module) -> None:
    """Xavier-uniform matrices, zero biases (Glorot and Bengio 2010, eq. 16): a block then keeps its input's scale."""
    if isinstance(module, nn.Linear | nn.Conv1d):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def parameter_part(name: str) -> str:
    """The part that a parameter's dotted name belongs to.

    ``"<layer>.q"`` with q, k, v, out, mlp, mix or norm; ``cross_`` before the part in cross-attention, ``e`` before the layer on
    the encoder side of an encoder-decoder; ``embedding``, ``encoding`` and ``head`` (with the norm before it). The weights of an
    additive score count with the queries, the scales of QK-norm with queries and keys, a gate with the output. A baseline has
    ``"<layer>.weights"`` and ``"<layer>.norm"``.
    """
    head, *rest = name.split(".")
    if head in ("embedding", "head"):
        return head
    kind, *parts = rest
    if kind == "encodings":
        return "encoding"
    if kind == "norm":
        return "head"
    if head == "body":
        return "head" if kind == "norm" else f"{parts[0]}.{'norm' if 'residual' in parts else 'weights'}"
    layer = ("e" if head == "source_stack" else "") + parts[0]
    module, what = parts[1], parts[2]
    if module.endswith("_residual"):
        return f"{layer}.norm"
    if module in ("mlp", "mix"):
        return f"{layer}.{module}"
    return f"{layer}.{PARTS[module]}{SAME.get(what, what.removesuffix('_norm'))}"


# Metadata of a file of weights: JSON with the config of the model, and version, commit, code and torch. Without a day, so that
# equal trainings leave equal files; one entry, since safetensors writes several in any order.
ORIGIN = "attention_lab"


def save_weights(model: nn.Module, path: Path) -> None:
    """Save a model's parameters and buffers, those of shared layers once, with its origin; the file appears whole or not at all.
    Raises OSError."""
    config: RunConfig = model.config  # type: ignore[assignment]  # both kinds of models keep theirs
    now = provenance()
    origin = {"version": now["version"], "commit": now["commit"], "code": now["code"], "torch": now["torch"]}
    metadata = {ORIGIN: json.dumps({"config": config.flat(), **origin})}
    saved = model
    if next(model.parameters()).device.type != "cpu":
        # On a GPU the weights of a recurrent layer are parts of one tensor, as cuDNN wants them; safetensors stores no such parts.
        saved = build_model(config, **shapes(config).of_model)
        saved.load_state_dict({name: tensor.cpu() for name, tensor in model.state_dict().items()})
    with replacing(path) as half_written:
        try:
            save_model(saved, str(half_written), metadata)
        except SafetensorError as error:
            raise OSError(str(error)) from error


def in_single(model: M) -> M:
    model.config = model.config.replace(dtype="float32")
    model.float().eval().requires_grad_(False)
    return model


def trained_model(config: RunConfig, weights: Path) -> Transformer | Baseline:
    """The model of a config with the weights in a file, on the CPU in evaluation mode. Raises ValueError with one sentence if the
    weights cannot be loaded.

    The last few models are remembered, so the caller must not change the model.
    """
    try:
        return _load(weights, config)
    except OSError:
        raise ValueError("The run has left no weights; it leaves them when it pauses or ends.") from None
    except (SafetensorError, RuntimeError) as error:
        if "allocate memory" in str(error):
            raise
        raise ValueError(
            f"The run's weights are damaged, or of another model: {str(error).partition(chr(10))[0]}"
        ) from error


@once_per_change(4)
def _load(weights: Path, config: RunConfig) -> Transformer | Baseline:
    model = build_model(config, **shapes(config).of_model)
    load_model(model, str(weights))
    return model.eval()
