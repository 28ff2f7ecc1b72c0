"""FLOPs of a training step: 6 for each weight and token (Kaplan et al. 2020, table 1), the attention matrices, and the encoding."""

from engine.config.run_config import RunConfig
from engine.settings.costs import Flops, StackShape


def flops_per_step(config: RunConfig, parts: dict[str, int], length: int, source_length: int | None = None) -> float:
    """FLOPs of a step on [batch_size, length], given the parameters by part.

    Look-ups cost nothing, but a tied embedding is also the head; a shared block counts at every depth.
    """
    tokens = config.batch_size * (length + (source_length or 0))
    reads_only = ("encoding",) if config.tie_embeddings else ("embedding", "encoding")
    weights = sum(count for part, count in parts.items() if part not in reads_only)
    if not config.architecture.attends:
        return 6.0 * weights * tokens
    if config.share_layers:
        weights *= config.n_layers
    attention = config.n_layers * config.batch_size * length**2 * config.n_heads * config.head_width
    return 6.0 * weights * tokens + 12.0 * attention + encoding_flops(config, length, source_length).total


def encoding_flops(config: RunConfig, length: int, source_length: int | None = None) -> Flops:
    """FLOPs of the encoding in all stacks of a step on [batch_size, length]; the encoder of an encoder-decoder reads
    ``source_length`` tokens."""
    if not config.architecture.attends:
        return Flops()
    stacks = [StackShape(config, length, config.causal)]
    if source_length is not None:
        stacks.append(StackShape(config, source_length, causal=False))
    return sum(map(config.encoding_settings.flops, stacks), Flops())
