from pages.parts.app.in_markdown import say_ignored
from pages.parts.notebooks.screen import SETTINGS, show_notebook, show_overview

say_ignored(SETTINGS.open_address()[1])
if notebook := SETTINGS.notebook():
    show_notebook(notebook)
else:
    show_overview()
SETTINGS.write_address(SETTINGS.query())
