"""The task of naming the symbol k positions earlier."""
