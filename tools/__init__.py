"""Programs for maintainers: ``python -m tools.<name>``. They use the engine as anybody would; nothing in it or in the pages needs them."""
