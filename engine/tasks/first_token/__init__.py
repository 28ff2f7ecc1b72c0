"""The task of naming the first symbol everywhere."""
