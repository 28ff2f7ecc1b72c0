"""Parts of the encodings page: the recommendation with its table, two side by side, and a design of your own."""
