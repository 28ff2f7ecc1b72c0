"""Texts to train on: the plays, a person's own text, tokens, and the windows cut from them."""
