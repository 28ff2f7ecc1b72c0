"""Parts of the page on memory and time."""
