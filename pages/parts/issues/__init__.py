"""Parts of the issues page: the map, the text, the guess, experiments and the board that draws them live."""
