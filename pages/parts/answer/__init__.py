"""Parts of the page "The answer": the prose with its marks, the summary, and links that open an issue in place."""
