"""The page of notebooks: classic exercises, each on a page of its own."""

from pages.parts.app.in_markdown import say_ignored
from pages.parts.notebooks.reading import show_overview
from pages.parts.notebooks.state import OVERVIEW

say_ignored(OVERVIEW.open_address()[1])
show_overview()
OVERVIEW.write_address({})
