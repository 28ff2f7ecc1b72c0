"""The issues page's parts: the map, the words, predictions, experiments and the board that draws them live."""
