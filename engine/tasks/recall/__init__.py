"""The task of naming the value of a key that was shown."""
