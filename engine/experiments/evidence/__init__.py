"""Evidence: what was measured on this machine, and the numbers that come with this version."""
