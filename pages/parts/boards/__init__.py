"""Boards: what fills in while something runs.

All have one ``base``. They differ in the source of what they show: ``panels.py`` with ``figures/`` shows figures that the page hands
over, again with each rerun; ``live/`` follows the events of a run.
"""
