"""The task of writing a sequence again."""
