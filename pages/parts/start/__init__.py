"""Parts of the start page: its words, which are computed from the recorded run."""
