"""Issues of self-attention."""
