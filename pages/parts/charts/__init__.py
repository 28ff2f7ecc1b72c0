"""Figures: pure functions from arrays and facts to a Plotly figure.

A live figure is made before its numbers arrive. Each trace then names in ``meta`` its column or grid and its colours in both themes;
the browser fills and recolours it.
"""
