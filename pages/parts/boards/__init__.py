"""Boards: panels that fill in while something runs.

All share one ``base``. ``panels.py`` with ``figures/`` draws figures from the page, again with each rerun; ``live/``
follows the events of a run.
"""
