"""RoPE: rotary position embedding and its context extensions."""
