"""Parts of the pages of notebooks: what a notebook is and its cells, which a program imports, too, and the screen."""
