"""The task of naming the position itself."""
