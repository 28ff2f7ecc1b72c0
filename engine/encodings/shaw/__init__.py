"""Shaw's relative position vectors in the scores and the values."""
