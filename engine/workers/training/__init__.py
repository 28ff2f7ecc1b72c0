"""What a worker does with its runs."""
