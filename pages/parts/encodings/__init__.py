"""The encodings page: two side by side, along a run, and which one to use."""
