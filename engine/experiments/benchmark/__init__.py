"""The table of Encodings: every encoding measured in every criterion that a reader may need."""
