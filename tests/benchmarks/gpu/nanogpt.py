"""The time of a step of nanoGPT: its architecture and loop in few lines of our own, after ``model.py`` and ``train.py`` of
github.com/karpathy/nanoGPT. Pre-norm blocks, learned positions, fused attention, GELU, the head tied to the embedding; fused AdamW with
weight decay on matrices only, gradients clipped at 1, batches copied from pinned memory without waiting. No loss is read."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.model.precision import set_tf32

WARM_UP, BATCHES = 6, 16
PRECISIONS = {"fp32": (False, False), "TF32": (True, False), "bf16": (True, True)}
"""By name, whether float32 products use TF32, and whether the forward pass is in bfloat16 by autocast, as nanoGPT trains."""


@dataclass(frozen=True)
class Size:
    """The sizes of a model and its batch."""

    d_model: int
    seq_len: int
    n_layers: int
    n_heads: int = 4
    batch_size: int = 32

    def __str__(self) -> str:
        return f"d{self.d_model} L{self.seq_len} x {self.n_layers}, batch {self.batch_size}"


class Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        d = size.d_model
        self.heads, self.norm_1, self.norm_2 = size.n_heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(self.norm_1(x)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm_2(x))


class NanoGPT(nn.Module):
    """From tokens, [batch, length], to logits, [batch, length, token]."""

    def __init__(self, size: Size, n_tokens: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(n_tokens, size.d_model), nn.Embedding(size.seq_len, size.d_model)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.n_layers)))
        self.norm = nn.LayerNorm(size.d_model)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                residual = name.endswith(("out.weight", "mlp.2.weight"))
                nn.init.normal_(parameter, std=0.02 / (2 * size.n_layers) ** 0.5 if residual else 0.02)

    def forward(self, x: Tensor) -> Tensor:
        embedded = self.tokens(x) + self.positions.weight
        return F.linear(self.norm(self.blocks(embedded)), self.tokens.weight)


def wait_for(device: str) -> None:
    """Wait until the device has done what it was given."""
    if device != "cpu":
        torch.accelerator.synchronize()


def stepper(size: Size, n_tokens: int, device: str, half: bool, compiled: bool) -> Callable[[int], Tensor]:
    """A function that takes the step of a number, and returns the loss without reading it."""
    torch.manual_seed(0)
    whole = NanoGPT(size, n_tokens).to(device)
    model = torch.compile(whole) if compiled else whole
    decayed = [[p for p in whole.parameters() if (p.dim() == 2) == matrix] for matrix in (True, False)]
    groups = [{"params": decayed[0], "weight_decay": 0.1}, {"params": decayed[1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, 1e-3, betas=(0.9, 0.95), fused=True)
    drawn = torch.randint(0, n_tokens, (BATCHES + 1, size.batch_size, size.seq_len))
    drawn = drawn if device == "cpu" else drawn.pin_memory()

    def step(number: int) -> Tensor:
        x, y = (drawn[number % BATCHES + later].to(device, non_blocking=True) for later in (0, 1))
        with torch.autocast(device, torch.bfloat16, enabled=half):
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(whole.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def nanogpt(
    size: Size, n_tokens: int, device: str, precision: str, steps: int, repeats: int, compiled: bool = False
) -> tuple[float, float]:
    """Milliseconds of a step, the median of repeats of so many steps; and seconds of the first step, with compiling."""
    tf32, half = PRECISIONS[precision]
    set_tf32(tf32)
    step = stepper(size, n_tokens, device, half, compiled)
    began = time.perf_counter()
    step(0)
    wait_for(device)
    first = time.perf_counter() - began
    for number in range(WARM_UP):
        step(number)
    return 1e3 * statistics.median(timed(step, device, steps) for _ in range(repeats)), first


def timed(step: Callable[[int], object], device: str, steps: int) -> float:
    """Seconds of a step, over so many."""
    wait_for(device)
    began = time.perf_counter()
    for number in range(steps):
        step(number)
    wait_for(device)
    return (time.perf_counter() - began) / steps
