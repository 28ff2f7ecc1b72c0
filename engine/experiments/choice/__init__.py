"""“Which one should I use?”: every encoding measured in every quality that a reader may need."""
