"""Helpers that all other packages use: paths, files, text formatting, the glossary, background tasks. Independent of models."""
