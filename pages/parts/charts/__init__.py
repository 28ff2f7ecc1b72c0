"""Figures: pure functions from arrays and facts to a Plotly figure.

A live figure is made before its numbers arrive. A trace then says in ``meta`` which column or grid it shows and its
colours in both themes; the browser fills and recolours it. Given columns, the same functions draw them at once.
"""
