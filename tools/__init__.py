"""Programs for maintainers: ``python -m tools.<name>``. They use the engine as anybody would; nothing in it or in the pages needs
them."""


def settings(words: str) -> dict[str, str]:
    """Read settings such as ``n_layers=2 dropout=0.1``."""
    return dict(word.split("=") for word in words.split())
