"""What everything else stands on: paths, files, text formatting, the glossary, background work. Knows nothing of models."""
