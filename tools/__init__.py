"""Programs for maintainers: no part of the app."""
