"""A depthwise convolution over the embedded tokens."""
