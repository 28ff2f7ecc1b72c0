"""Parts of the attention page: the chosen run and head, the page's link, and one file for each view."""
