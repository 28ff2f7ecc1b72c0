"""Questions about a language model and the text that it was trained on."""
