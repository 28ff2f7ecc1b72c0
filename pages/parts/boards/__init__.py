"""The figure board: panels of figures on one component, which every page that does not follow a run uses."""
