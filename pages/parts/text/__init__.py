"""Parts of the text page: its form and link, the reader's own text, the counting models, writing, attention."""
