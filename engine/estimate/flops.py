"""FLOPs of a training step: 6 for each weight and token (Kaplan et al. 2020, table 1), and the attention matrices.

Sums, look-ups, activations, masks and encodings count as nothing: what an encoding takes is measured
(:mod:`engine.estimate.encoding_costs`).
"""

from engine.config.run_config import RunConfig


def flops_per_step(config: RunConfig, parts: dict[str, int], length: int, source_length: int | None = None) -> float:
    """FLOPs of a step on [batch_size, length], given the parameters by part."""
    # a look-up costs nothing, but a tied embedding is also the head
    head = parts["head"] + (parts["embedding"] if config.tie_embeddings else 0)
    blocks = sum(count for part, count in parts.items() if part not in ("embedding", "encoding", "head"))
    if not config.architecture.attends:
        return 6.0 * (blocks + head) * config.batch_size * length
    # a shared block computes at every depth
    times = config.n_layers if config.share_layers else 1
    source, stacks = (0, 1) if source_length is None else (source_length, 2)
    # of an encoder-decoder half of the blocks' weights meet the source: the encoder's, and keys and values of cross-attention
    products = blocks * times * (length + source) / stacks + head * length
    if stacks == 2:
        # heads that share keys and values have fewer of them
        fewer = 2 * config.n_layers * config.d_model * config.head_width * (config.n_heads - config.key_heads)
        products += fewer * (length - source) / 2
    if config.attention_gate and source_length is not None:  # of cross-attention three matrices in five meet the answer
        products += config.n_layers * config.n_heads * config.head_width * config.d_model * (length - source) / 2
    pairs = length**2 + source**2 + length * source
    attention = config.n_layers * pairs * config.n_heads * config.head_width
    return config.batch_size * (6.0 * products + 12.0 * attention)
