"""One small file for each encoding: its settings, what it learns, computes and keeps, and its row. Torch-free."""
