"""“Which one should I use?”: every encoding measured in every criterion that a reader may need."""
