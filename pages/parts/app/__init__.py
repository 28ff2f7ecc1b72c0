"""Code that every page shares: the server, the session, the address bar, setting widgets, help, Markdown, background
tasks."""
