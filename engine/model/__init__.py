"""The transformer, written for reading: masks, attention, blocks, stacks, and how a config becomes a model."""
