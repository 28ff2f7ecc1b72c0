"""Parts of the pages: shared ones such as the board and the charts, and one folder for each page."""
