"""The task of counting open brackets."""
