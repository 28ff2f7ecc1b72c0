"""The attention page's parts: what is chosen, its link, and one file for each view."""
