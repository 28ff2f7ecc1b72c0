"""Parts of the pages of notebooks. The screen is a module of its own, since a program imports the others, too."""
