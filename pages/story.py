"""The story "Reverse in six steps": one screen a step, with one control, one figure and one question about the run."""

from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.own_runs import in_step_with
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.story.screen import show_step
from pages.parts.story.state import SETTINGS, present, run_of_step

say_ignored(SETTINGS.open_address()[1])
number, step = present()
run = run_of_step(number)
with in_step_with(lambda: controlled_as(run)):
    show_step(number, step, run)
    SETTINGS.write_address(SETTINGS.query())
