"""Parts of the issues page: the map, the text, predictions, experiments and the board that draws them live."""
