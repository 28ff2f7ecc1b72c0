"""Parts of the encodings page: two side by side, one along a run, and the choice of an encoding."""
