"""No positional encoding (NoPE)."""
