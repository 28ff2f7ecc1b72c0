"""The board: panels of figures in one component, used by every page except where a run is followed live."""
