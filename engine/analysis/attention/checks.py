"""The checks that detect the classic faults: a few lines each, shown on the page exactly as they are executed."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.analysis.attention.heads import entropy, head_view
from engine.analysis.attention.jobs import CheckResult, FaultComparison, FaultyHead
from engine.analysis.attention.model import held_out_metrics, model_of, pattern_at, run_with_cache, sample_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import WIDTHS, ModelRequest, SampleRequest, with_faults
from engine.config.run_config import RunConfig
from engine.model.attention import PREPARE
from engine.model.block import Residual
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.snapshot import array

# the largest change that counts as rounding: a batch computes a sequence in another order than the sequence alone
ROUNDING = 1e-3
MAX_CHANGED_TOKENS = 96  # tokens that are changed one at a time


def influence(model: Transformer, batch: Batch) -> Tensor:
    """The change of the logits at each position when one token changes, [changed, output]; for a batch of one sequence."""
    length = batch.inputs.size(1)
    changed = torch.linspace(0, length - 1, min(length, MAX_CHANGED_TOKENS)).long()
    twins = batch.inputs.repeat(len(changed), 1)  # one row for each changed token
    row = torch.arange(len(changed))
    twins[row, changed] = (twins[row, changed] + 1) % tokens_of(model)
    alone = replace(batch, token_mask=None)
    source = None if batch.source is None else batch.source.repeat(len(changed), 1)
    before, after = forward(model, alone), forward(model, replace(alone, inputs=twins, source=source))
    moved = torch.zeros(length, length)
    moved[changed] = (after - before).abs().amax(-1).float()
    return moved


def future_leak(model: Transformer, batch: Batch) -> float:
    """The largest change of an output when only a later token changes."""
    return influence(model, batch).tril(-1).max().item()  # [changed, output]: output before changed


def past_reach(model: Transformer, batch: Batch) -> float:
    """The largest change of the last output when an earlier token changes."""
    return influence(model, batch)[:-1, -1].max().item()


def row_sum_error(model: Transformer, batch: Batch) -> float:
    """The largest deviation from one of the sum of a query's weights."""
    patterns = [tensor for name, tensor in run_with_cache(model, batch)[1].items() if name.endswith(".pattern")]
    return max((pattern.sum(-1) - 1).abs().max().item() for pattern in patterns)


def spread_growth(model: Transformer, batch: Batch) -> float:
    """The standard deviation of the scores of random q and k in the widest head, over that in the narrowest."""
    compare = PREPARE[model.config.attention_score]
    spreads = []
    for d_head in WIDTHS:
        generator = torch.Generator().manual_seed(0)
        q, k = compare(*torch.randn(2, 256, d_head, generator=generator))
        spreads.append((q @ k.T).std().item())
    return max(spreads) / min(spreads)


def carried_by_skip(model: Transformer, batch: Batch) -> float:
    """The distance of two inputs of a block after the block, when its branches are zero."""
    residual: Residual = model.stack.blocks[0].attention_residual  # type: ignore[assignment]
    x, y = torch.randn(2, 8, model.config.d_model, generator=torch.Generator().manual_seed(0))
    silent = torch.zeros_like(x)
    return (residual.after(x, silent) - residual.after(y, silent)).abs().max().item()


def size_dependence(model: Transformer, batch: Batch) -> float:
    """The change of a normalised branch's result when its input is a hundred times as large."""
    residual: Residual = model.stack.blocks[0].attention_residual  # type: ignore[assignment]
    x = torch.randn(8, model.config.d_model, generator=torch.Generator().manual_seed(0))
    small, large = (residual.after(read, read) for read in (residual.before(x), residual.before(100 * x)))
    return float((large - small).norm() / small.norm())


@dataclass(frozen=True)
class Check:
    label: str
    measure: Callable[[Transformer, Batch], float]
    bound: float
    unit: str
    at_least: bool = False
    applies: Callable[[RunConfig], str] = lambda config: ""  # a sentence if the check does not apply to a config

    def passes(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


CHECKS: dict[str, Check] = {
    "future": Check(
        "No output moves when a later token changes", future_leak, ROUNDING, "logits",
        applies=lambda config: "" if config.causal else "An encoder may look ahead.",
    ),
    "past": Check("The last output moves when an earlier token changes", past_reach, ROUNDING, "logits", True),
    "rows": Check(
        "The weights of every query add up to one", row_sum_error, 1e-3, "off from 1",
        applies=lambda config: "With softmax plus one, a query may read less." if config.softmax_plus_one else "",
    ),
    "spread": Check(
        f"Scores of random q and k spread equally at d_head {WIDTHS[0]} and {WIDTHS[-1]}", spread_growth, 1.5, "times as wide",
        applies=lambda config: "An additive score is no product." if config.attention_score == "additive" else "",
    ),
    "skip": Check("A block keeps its input when its branches output zero", carried_by_skip, 0.1, "apart", True),
    "norm": Check("A hundredfold input gives the same normalised vector", size_dependence, 0.1, "relative change"),
}  # fmt: skip


def check_model(model: Transformer, batch: Batch) -> list[CheckResult]:
    rows: list[CheckResult] = []
    for name, check in CHECKS.items():
        reason = check.applies(model.config)
        with torch.no_grad():
            value = None if reason else check.measure(model, batch)
        rows.append({
            "name": name, "label": check.label, "value": value, "unit": check.unit,
            "bound": f"{'at least' if check.at_least else 'at most'} {check.bound:g}",
            "passed": None if value is None else check.passes(value), "reason": reason, "code": code_of(check),
        })  # fmt: skip
    return rows


def code_of(check: Check) -> str:
    uses = [influence] if "influence(" in inspect.getsource(check.measure) else []
    return "\n\n".join(inspect.getsource(function).rstrip() for function in (*uses, check.measure))


def switch_faults_on(
    request: ModelRequest, sample: SampleRequest, part: Part, faults: tuple[str, ...]
) -> FaultComparison:
    def weights_of(which: ModelRequest) -> FaultyHead:
        model, batch = model_of(which), sample_of(request.config, sample)
        with torch.no_grad():
            moved = influence(model, batch)
        head = head_view(pattern_at(model, batch, part), request.config, held_out_metrics(request.config, model))
        return {**head, "influence": array(moved), "checks": check_model(model, batch)}

    before = weights_of(request)
    return {"before": before, "after": weights_of(with_faults(request, faults)) if faults else before}


def entropy_at_first() -> dict[str, list[float]]:
    """The mean entropy (nats) of the softmax over 32 random keys by head width, with and without the scale."""
    entropies: dict[str, list[float]] = {}
    for score in ("scaled_dot", "dot"):
        entropies[score] = []
        for d_head in WIDTHS:
            generator = torch.Generator().manual_seed(0)
            q = torch.randn(256, d_head, generator=generator)
            k = torch.randn(32, d_head, generator=generator)
            ready_q, ready_k = PREPARE[score](q, k)
            entropies[score].append(entropy((ready_q @ ready_k.T).softmax(-1)).mean().item())
    return entropies


def tokens_of(model: Transformer) -> int:
    parts = getattr(model.embedding, "parts", None)
    return len(parts) if parts is not None else int(model.embedding.num_embeddings)  # type: ignore[arg-type]
