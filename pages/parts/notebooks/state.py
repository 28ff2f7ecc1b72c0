"""Which notebook is read."""

from typing import Annotated

from engine.notebooks import NOTEBOOKS, Notebook
from pages.parts.app.page_state import ModelSettings, PageState, one_of

PAGE, NOTEBOOK_PAGE = "notebooks.py", "notebook.py"


class NotebookState(PageState):
    """The slug of a notebook."""

    notebook: Annotated[str | None, one_of(NOTEBOOKS)] = None


class NotebookSettings(ModelSettings[NotebookState]):
    def notebook(self) -> Notebook | None:
        return NOTEBOOKS.get(self.values()["notebook"])


SETTINGS = NotebookSettings("notebook", NotebookState)
OVERVIEW = ModelSettings("notebooks", PageState)
"""Nothing is set in the overview."""
