"""The text page's parts: its form and link, a text of one's own, the counting models beside a run, writing, attention."""
