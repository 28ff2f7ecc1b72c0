"""The task of naming the next symbol of a Markov source."""
