"""The task of telling whether the bits so far are odd in number."""
