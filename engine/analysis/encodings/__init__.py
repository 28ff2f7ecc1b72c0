"""Questions about encodings before, along and after training."""
