"""The task of telling the majority, with a cue that may give it away."""
