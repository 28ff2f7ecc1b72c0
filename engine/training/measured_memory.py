"""Measured memory of one training step: of autograd, of the optimizer, and the peak.

On CUDA the peak is the allocator's. Elsewhere it is followed tensor by tensor: each storage that an operation creates counts until
it is freed; scratch space inside a kernel is not seen. The peak is that of forward and backward; the optimizer's step is not taken,
so that measuring changes no weight.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.model.activations import in_mode
from engine.model.attention import Pattern
from engine.settings.costs import Memory
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of


@dataclass(frozen=True)
class SavedBytes:
    total: int
    scores: int


class Allocations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The storages that operations create: the ones alive, their bytes, and the highest sum so far."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.alive: dict[int, int] = {}  # storage to bytes
        self.of_scores: set[int] = set()  # storages created while attention scores were computed
        self.bytes = 0
        self.peak = 0
        self._in_scores = False

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        result = func(*args, **(kwargs or {}))
        unknown = [
            leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor) and _storage_id(leaf) not in self.alive
        ]
        if unknown:  # most operations of a recurrent layer return views of known storages: these add no bytes
            given = {_storage_id(leaf) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)}
            for leaf in unknown:
                if _storage_id(leaf) not in given:
                    self._created(leaf)
        return result

    def _created(self, tensor: Tensor) -> None:
        storage, key = tensor.untyped_storage(), _storage_id(tensor)
        if key in self.alive:
            return
        self.alive[key] = storage.nbytes()
        if self._in_scores:
            self.of_scores.add(key)
        self.bytes += storage.nbytes()
        self.peak = max(self.peak, self.bytes)
        weakref.finalize(storage, self._freed, key)

    def _freed(self, key: int) -> None:
        self.bytes -= self.alive.pop(key)
        self.of_scores.discard(key)

    @contextmanager
    def watching_scores(self, model: nn.Module) -> Iterator[None]:
        """Count separately, inside the block, what attention creates between q, k and the weighted sum of the values."""

        def enter(*_: object) -> None:
            self._in_scores = True

        def leave(*_: object) -> None:
            self._in_scores = False

        with ExitStack() as hooks:
            for module in model.modules():
                if isinstance(module, Pattern):
                    hooks.enter_context(module.register_forward_pre_hook(enter))
                    hooks.enter_context(module.register_forward_hook(leave))
            yield


def _storage_id(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - PyTorch has no public name for it


def saved_for_backward(model: nn.Module, loss: Callable[[], Tensor]) -> tuple[Tensor, SavedBytes, Allocations]:
    """The loss, the memory that autograd saves in the forward pass, and the allocations so far.

    Each storage counts once, and only if the pass created it: parameters, cached masks and tables, and the batch existed before.
    """
    allocations = Allocations()
    saved: dict[int, int] = {}
    of_scores: set[int] = set()

    def pack(tensor: Tensor) -> Tensor:
        key = _storage_id(tensor)
        if key in allocations.alive:
            saved[key] = allocations.alive[key]
            if key in allocations.of_scores:
                of_scores.add(key)
        return tensor

    hooks: AbstractContextManager[None] = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with allocations, allocations.watching_scores(model), hooks:
        value = loss()
    return value, SavedBytes(sum(saved.values()), sum(saved[key] for key in of_scores)), allocations


def measure_memory(model: nn.Module, batch: Batch, optimizers: Sequence[torch.optim.Optimizer]) -> Memory:
    """Measure one forward and backward pass on ``batch`` in training mode. Weights, mode and random state stay as they are;
    gradients are cleared."""

    def loss() -> Tensor:
        return loss_of(forward(model, batch).float(), batch.targets)

    device = next(model.parameters()).device
    cuda = device.type == "cuda"
    model.zero_grad()
    with in_mode(model, training=True), torch.random.fork_rng(devices=[device] if cuda else []):
        with torch.no_grad():
            loss()  # creates the cached masks and tables, so that they are not counted below
        if cuda:
            torch.cuda.reset_peak_memory_stats(device)
            before = torch.cuda.memory_allocated(device)
        value, saved, allocations = saved_for_backward(model, loss)
        if cuda:
            value.backward()  # type: ignore[no-untyped-call]
            transient = torch.cuda.max_memory_allocated(device) - before
        else:
            with allocations:
                value.backward()  # type: ignore[no-untyped-call]
            transient = allocations.peak
    parameters, gradients, optimizer_state = state_bytes(model, optimizers)
    model.zero_grad()
    return Memory(
        parameters, gradients, optimizer_state, saved.total, saved.scores, peak=parameters + optimizer_state + transient
    )


def state_bytes(model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> tuple[int, int, int]:
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    optimizer_state = [value for one in optimizers for state in one.state.values() for value in state.values()]
    tensors = model.parameters(), gradients, (value for value in optimizer_state if isinstance(value, Tensor))
    parameters, of_gradients, of_optimizers = (sum(one.nbytes for one in those) for those in tensors)
    return parameters, of_gradients, of_optimizers  # bytes


def peak_bytes(work: Callable[[], object], device: torch.device) -> int:
    """The highest number of bytes that ``work`` allocates, without gradients, on top of earlier ones."""
    with torch.no_grad():
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            before = torch.cuda.memory_allocated(device)
            work()
            return int(torch.cuda.max_memory_allocated(device) - before)
        allocations = Allocations()
        with allocations:
            work()
        return allocations.peak
