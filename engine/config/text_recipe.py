"""The text page's config: a small model with tied embeddings, trained for many steps.

The settings are chosen so that on one core the run passes a Kneser-Ney bigram within half a minute and a trigram within two.
"""

from engine.config.run_config import RunConfig, parse
from engine.settings.fields import Value

TASK = "shakespeare_words"
CHOSEN = ("text", "vocab_size", "pos_encoding", "steps")
"""The settings that the text page lets the reader choose; the recipe fixes all others."""
RECIPE: dict[str, Value] = {
    "task": TASK, "vocab_size": 3000, "pos_encoding": "rope", "seq_len": 16,
    "d_model": 64, "n_layers": 2, "n_heads": 4, "tie_embeddings": True, "token_init_std": 0.1,
    "batch_size": 32, "learning_rate": 0.006, "schedule": "cosine", "warmup_steps": 100, "steps": 3000,
}  # fmt: skip


def text_config(**chosen: object) -> RunConfig:
    """The recipe with some settings chosen. Raises ConfigError with one sentence for each that does not fit."""
    return parse(RECIPE | chosen)
