"""The notebooks page: what there is, steps with their code, and what they came to."""
