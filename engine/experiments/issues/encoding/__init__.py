"""Issues of positional encoding."""
