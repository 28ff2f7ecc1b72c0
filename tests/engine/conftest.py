"""One thread, as the workers run: with more, small models wait for threads rather than compute."""

import torch

torch.set_num_threads(1)
