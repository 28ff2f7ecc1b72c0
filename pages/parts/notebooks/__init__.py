"""Parts of the notebooks page: the overview, steps with their code, and their outputs."""
