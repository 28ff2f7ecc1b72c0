"""KERPLE: a kernelised bias that falls with distance."""
