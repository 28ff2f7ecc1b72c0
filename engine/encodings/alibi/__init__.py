"""ALiBi: attention with linear biases."""
