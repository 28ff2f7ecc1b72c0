"""A GPU beside nanoGPT's architecture and a CPU core: the tables of ``docs/gpu.md``.

    python -m tools.gpu                         measure on this machine, some minutes, and print the tables
    python -m tools.gpu --write docs/gpu.md     and write them into the document, between its marks
    python -m tools.gpu --only steps losses     some of the parts

steps   milliseconds of a training step, of nanoGPT and of the engine, and what recording costs
seeds   seconds of eight seeds beside one, through the worker pool
losses  of every encoding, family and task on the device and on the CPU, and captured and eager
"""

import argparse
import logging
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import shapes
from engine.foundation.files import DATA_VARIABLE
from engine.foundation.log import LOG
from engine.foundation.provenance import cpu_name, short_commit, today
from engine.model.precision import set_tf32
from engine.runs.events import Event, Failed, Progress
from engine.runs.record_options import DEFAULT_RECORD, LEAST_RECORD, RecordOptions
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving.host import cores
from engine.serving.limits import Limits
from engine.serving.pool import Pool
from engine.settings.architectures import ARCHITECTURES
from engine.tasks import TASKS
from engine.training.train import begin, train
from tools import settings
from tools.power import between_marks

MARKS = "<!-- gpu: written by python -m tools.gpu -->\n", "<!-- end of gpu -->\n"
# the first head of each part's table
TITLES = {"steps": "ms per step", "seeds": "through the pool", "losses": "losses"}
SEEDS, REPEATS = 8, 3
WARM_UP, BATCHES = 6, 16
# by name, whether float32 products use TF32, and whether the forward pass is in bfloat16 by autocast, as nanoGPT trains
PRECISIONS = {"fp32": (False, False), "TF32": (True, False), "bf16": (True, True)}
SKIPPED_STEPS = 50  # steps at the start of a run that are not timed, or a quarter of a shorter run
# of a run whose recording is timed, as a run of that size has: the fewest snapshots are the same for all
LEAST_RECORDED = 600
TO_CHECK = "to look at"
# the largest relative difference of two losses that needs no check: in float32, with bfloat16, and if the device draws random
# numbers, which differ from those of the CPU
CLOSE, CLOSE_IN_HALF, CLOSE_WHERE_DRAWN = 2e-3, 5e-2, 0.5


@dataclass(frozen=True)
class Size:
    d_model: int
    seq_len: int
    n_layers: int
    n_heads: int = 4
    batch_size: int = 32

    def __str__(self) -> str:
        return f"d{self.d_model} L{self.seq_len} x {self.n_layers}, batch {self.batch_size}"


# each with the steps of one repeat
SIZES = (
    (Size(32, 16, 1), 1200), (Size(64, 64, 2), 800), (Size(128, 128, 4), 400), (Size(256, 256, 6, 8), 160),
    (Size(384, 256, 6, 6, 64), 100),
)  # fmt: skip
# the first sizes that are also timed on a CPU core and with a larger batch; the last ones that nanoGPT also compiles
SMALL_SIZES, LARGE_SIZES = 3, 2
POOLED_SIZES = 2
ONE, EIGHT = ("one seed (s)", "one seed (ms per step)"), ("eight seeds (s)", "eight seeds (ms per step)")


Numbers = Mapping[str, float | str]


class Notes:
    def __init__(self) -> None:
        self.parts: dict[str, dict[str, dict[str, float | str]]] = {part: {} for part in TITLES}
        self._began = time.perf_counter()

    def measure(self, part: str, row: str, column: str, what: Callable[[], float | Numbers]) -> None:
        try:
            numbers = what()
        except Exception as error:  # its cell shows it, and the rest is measured all the same
            numbers = {column: f"{type(error).__name__}: {error}".splitlines()[0][:120].replace("|", "\\|")}
        for name, value in (numbers if isinstance(numbers, Mapping) else {column: numbers}).items():
            self.parts[part].setdefault(row, {})[name] = value
            seconds = time.perf_counter() - self._began
            print(f"{seconds:6.1f} s  {row}: {name} {format_cell(value)}", file=sys.stderr, flush=True)

    def markdown(self, machine: str) -> str:
        tables = [f"{machine}\n"]
        for part, rows in self.parts.items():
            columns = dict.fromkeys(column for row in rows.values() for column in row)
            lines = [f"| {TITLES[part]} | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}\n"]
            for name, row in rows.items():
                lines.append(f"| {name} | {' | '.join(format_cell(row.get(column, '')) for column in columns)} |\n")
            tables += ["".join(lines)] if rows else []
        return "\n".join(tables)


def format_cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


# nanoGPT: its architecture and loop in few lines of our own, after model.py and train.py of github.com/karpathy/nanoGPT. Pre-norm blocks,
# learned positions, fused attention, GELU, the head tied to the embedding; fused AdamW with weight decay on matrices only, gradients
# clipped at 1, batches copied from pinned memory without waiting. No loss is read.


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
        after: Tensor = x + self.mlp(self.norm_2(x))
        return after


class NanoGPT(nn.Module):
    """Tokens, [batch, length], to logits, [batch, length, token]."""

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


def stepper(size: Size, n_tokens: int, device: str, half: bool, compiled: bool) -> Callable[[int], Tensor]:
    """A function that takes the step of a number and returns the loss without reading it."""
    torch.manual_seed(0)
    whole = NanoGPT(size, n_tokens).to(device)
    model = torch.compile(whole) if compiled else whole
    decayed = [[p for p in whole.parameters() if (p.dim() == 2) == matrix] for matrix in (True, False)]
    groups = [{"params": decayed[0], "weight_decay": 0.1}, {"params": decayed[1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, 1e-3, betas=(0.9, 0.95), fused=True)
    tokens = torch.randint(0, n_tokens, (BATCHES + 1, size.batch_size, size.seq_len))
    tokens = tokens if device == "cpu" else tokens.pin_memory()

    def step(number: int) -> Tensor:
        x, y = (tokens[number % BATCHES + later].to(device, non_blocking=True) for later in (0, 1))
        with torch.autocast(device, torch.bfloat16, enabled=half):
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(whole.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def nanogpt(size: Size, device: str, precision: str, steps: int, *, compiled: bool = False) -> Numbers:
    """Milliseconds of a step, the median of repeats of so many steps; if it is compiled, also the seconds of the first step."""

    def took(numbers: range) -> float:
        began = time.perf_counter()
        for number in numbers:
            step(number)
        if device != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter() - began

    tf32, half = PRECISIONS[precision]
    set_tf32(tf32)
    step = stepper(size, shapes(setting_of(size, steps, device)).n_tokens, device, half, compiled)
    first, _ = took(range(1)), took(range(WARM_UP))
    each = 1e3 * statistics.median(took(range(steps)) for _ in range(REPEATS)) / steps
    name = f"nanoGPT {precision}"
    return {f"{name}, compiled": each, "compiling (s)": first} if compiled else {name: each}


# The engine's own steps.


def setting_of(size: Size, steps: int, device: str) -> RunConfig:
    more = {"task": "k_back", "pos_encoding": "learned", "d_ff": 4 * size.d_model, "learning_rate": 0.001}
    return parse({**vars(size), **more, "steps": steps, "device": device})


def events_of(config: RunConfig, record: RecordOptions = LEAST_RECORD, *, eager: bool = False) -> Iterator[Event]:
    """The events of a run; ``eager``: with steps that are not captured. Raises RuntimeError if it fails."""
    state = None
    if eager:
        state = begin(config)
        state.recorder = None
    for event in train(config, record=record, state=state):
        if isinstance(event, Failed):
            raise RuntimeError(event.reason)
        yield event


def milliseconds(config: RunConfig, repeats: int | None = None, *, eager: bool = False) -> float:
    """Milliseconds of a step, the median of repeats: the slope of a line through the moments at which the events of the
    steps come, of captured steps many at once. The first steps are left out, and the last, whose event comes after a
    validation."""

    def slope() -> float:
        events = (event for event in events_of(config, eager=eager) if isinstance(event, Progress))
        came = [time.perf_counter() for _ in islice(events, config.steps - 1)]
        skipped = min(SKIPPED_STEPS, len(came) // 4)
        return 1e3 * float(np.polyfit(np.arange(len(came) - skipped), came[skipped:], 1)[0])

    return statistics.median(slope() for _ in range(repeats or REPEATS))


def recorded(config: RunConfig, repeats: int) -> float:
    """The time of a run with everything that the lab shows over that of one with nothing recorded, from the first step to the end
    of the run, with its measurements; the median of pairs."""

    def span(record: RecordOptions) -> float:
        events = events_of(config, record)
        next(event for event in events if isinstance(event, Progress))
        began = time.perf_counter()
        for _ in events:
            pass
        return time.perf_counter() - began

    return statistics.median(span(DEFAULT_RECORD) / span(LEAST_RECORD) for _ in range(repeats))


def measure_steps(notes: Notes, device: str) -> None:
    # nanoGPT first, since torch does not like its old and new switch of TF32 in turns
    for number, (size, steps) in enumerate(SIZES):
        for name in PRECISIONS:
            notes.measure(
                "steps", str(size), f"nanoGPT {name}", partial(nanogpt, size, device, name, max(2, steps // 10))
            )
        if number >= len(SIZES) - LARGE_SIZES:
            compiled = partial(nanogpt, size, device, "bf16", max(2, steps // 10), compiled=True)
            notes.measure("steps", str(size), "nanoGPT bf16, compiled", compiled)
    for number, (size, steps) in enumerate(SIZES):
        config, is_small = setting_of(size, steps, device), number < SMALL_SIZES
        note = partial(notes.measure, "steps", str(size))
        note("ours", partial(milliseconds, config))
        note("ours, bf16 mixed", partial(milliseconds, config.replace(dtype="bfloat16_mixed")))
        note("ours, eager", partial(milliseconds, config.replace(steps=max(4, steps // 4)), eager=True))
        if is_small:
            note("ours, batch x 8", partial(milliseconds, config.replace(batch_size=8 * size.batch_size)))
        longer = config.replace(steps=max(steps, LEAST_RECORDED))
        note("recorded / bare", partial(recorded, longer, REPEATS if is_small else 1))
        if is_small:
            note(
                "ours, one CPU core", partial(milliseconds, config.replace(device="cpu", steps=max(4, steps // 20)), 1)
            )


# Many runs at once, through the worker pool.


def pooled_seconds(pool: Pool, configs: Iterable[RunConfig]) -> float:
    """Seconds from submitting runs, as trials, until the last has ended. Raises RuntimeError if one does not finish."""
    began = time.perf_counter()
    runs = [pool.submit(RunRequest(config, trial=True, record=LEAST_RECORD)) for config in configs]
    for run in runs:
        while run.live:
            run.wait_for(len(run.events) + 1)
        if run.state != "finished":
            raise RuntimeError(f"A run is {run.state}: {getattr(run.ending, 'reason', '')}")
    return time.perf_counter() - began


def seeds(pool: Pool, config: RunConfig) -> Numbers:
    """One seed and eight of them, in turns; each repeat has other seeds. A step's time, without start and end of the runs, is the
    difference to runs of three times as many steps."""
    numbers: dict[str, float] = {}
    took: dict[int, list[float]] = {1: [], SEEDS: []}
    for repeat in range(REPEATS):
        for count, each in took.items():
            each.append(pooled_seconds(pool, [config.replace(seed=SEEDS * repeat + seed) for seed in range(count)]))
    for (whole, step), (count, each) in zip((ONE, EIGHT), took.items(), strict=True):
        numbers[whole] = statistics.median(each)
        longer = [config.replace(steps=3 * config.steps, seed=seed) for seed in range(count)]
        numbers[step] = 1e3 * (pooled_seconds(pool, longer) - numbers[whole]) / (2 * config.steps)
    return numbers


def measure_seeds(notes: Notes, device: str) -> None:
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder)), Limits()) as pool:
        pool.wait_until_ready(300)
        for size, steps in SIZES[:POOLED_SIZES]:
            notes.measure("seeds", str(size), EIGHT[0], partial(seeds, pool, setting_of(size, steps, device)))


# The losses of a few steps on the CPU and on the device, and there captured and eager.

SMALL = {"task": "k_back", "seq_len": 16, "n_layers": 2, "n_heads": 2, "steps": 20}
# with separate code
SETTINGS = (
    "mask_fault=missing",
    "softmax_axis=query attention_impl=materialised",
    "attention_score=additive attention_impl=materialised",
    "attention_impl=materialised",
    "norm=post",
    "optimizer=muon",
    "dtype=bfloat16",
    "dtype=bfloat16_mixed",
    "dropout=0.1",
    "position_dropout=0.2",
    "share_layers=true",
    "tie_embeddings=true",
    "randomized_positions=4",
    "label_noise=0.1",
    "pos_encoding=designed design_features=table",
)
Cases = dict[str, dict[str, object]]
Losses = list[float] | str  # the loss of each step, or the reason why a run failed


def cases() -> Cases:
    by_name: Cases = {name: {**SMALL, "pos_encoding": name} for name in ENCODINGS}
    for name, family in ARCHITECTURES.items():
        encoding = {} if family.layer_shapes is None else {"pos_encoding": "nope"}
        by_name[name] = {"task": "reverse", "family": name, "steps": 20, **encoding}
    for name, task in TASKS.items():
        family_of = "decoder" if "decoder" in task.architectures else task.architectures[0]
        by_name[name] = {"task": name, "family": family_of, "steps": 8}
    return by_name | {one: {**SMALL, **settings(one)} for one in SETTINGS}


def losses(case: Mapping[str, object], device: str, *, eager: bool = False) -> Losses:
    config = parse({**case, "tf32": False, "device": device})
    try:
        return [event.loss for event in events_of(config, eager=eager) if isinstance(event, Progress)]
    except Exception as error:  # the other cases are compared all the same
        return f"{type(error).__name__}: {error}".splitlines()[0][:120]


def difference(one: Losses, other: Losses) -> float:
    """The largest relative difference of two losses; infinite if a run failed, has fewer steps, or a loss is not finite."""
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other):
        return math.inf
    each = [abs(a - b) / max(1e-3, abs(a)) for a, b in zip(one, other, strict=True)]
    return max(each) if all(map(math.isfinite, each)) else math.inf


def compare_losses(given: Cases, ones: dict[str, Losses], others: dict[str, Losses], *, same_device: bool) -> Numbers:
    """The number of cases and of those to check, the largest difference among the others, and the names to check."""
    far, near = list[str](), 0.0
    for name, case in given.items():
        close = CLOSE if case.get("dtype", "float32") == "float32" else CLOSE_IN_HALF
        if not same_device and not {"dropout", "position_dropout"}.isdisjoint(case):
            close = CLOSE_WHERE_DRAWN
        one, other = ones[name], others[name]
        if (apart := difference(one, other)) > close:
            far.append(" ".join([f"{name} {apart:.1g}", *(why for why in (one, other) if isinstance(why, str))]))
        else:
            near = max(near, apart)
    counts = {"cases": len(given), TO_CHECK: len(far), "largest difference of the others": near}
    return {**counts, "those": "; ".join(far)}


def measure_losses(notes: Notes, device: str) -> None:
    all_cases, note = cases(), partial(notes.measure, "losses")
    on_device = {name: losses(case, device) for name, case in all_cases.items()}
    eagerly = {name: losses(case, device, eager=True) for name, case in all_cases.items()}
    on_cpu = {name: losses(case, "cpu") for name, case in all_cases.items()}
    across = partial(compare_losses, all_cases, on_cpu, on_device, same_device=device == "cpu")
    note("the device and the CPU", TO_CHECK, across)
    note("captured and eager", TO_CHECK, partial(compare_losses, all_cases, eagerly, on_device, same_device=True))


MEASURES = {"steps": measure_steps, "seeds": measure_seeds, "losses": measure_losses}


def machine(device: str) -> str:
    card = cpu_name()
    if device == "cuda":
        driver, command = "unknown", ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
        with suppress(OSError):
            driver = subprocess.run(command, capture_output=True, text=True).stdout.strip() or driver
        card = f"{torch.cuda.get_device_name()}, driver {driver}"
    about = f"torch {torch.__version__}, Python {platform.python_version()}, {cores()} cores"
    return f"{card}, {about}; commit {short_commit() or 'unknown'}, {today()}"


def main(arguments: Sequence[str] | None = None) -> Notes:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", nargs="*", choices=list(TITLES), default=list(TITLES), metavar="PART")
    parser.add_argument("--write", type=Path, help="the document that gets the tables", metavar="FILE")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    LOG.setLevel(logging.WARNING)  # such as that a step could not be recorded
    notes = Notes()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[DATA_VARIABLE] = folder
        for part in given.only:
            MEASURES[part](notes, given.device)
    tables = notes.markdown(machine(given.device))
    print(tables)
    if given.write:
        given.write.write_text(between_marks(given.write.read_text("utf-8"), tables, *MARKS), "utf-8")
    return notes


if __name__ == "__main__":
    main()
