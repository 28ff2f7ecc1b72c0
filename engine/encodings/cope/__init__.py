"""CoPE: contextual positions counted by gates."""
