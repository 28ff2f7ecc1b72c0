from dataclasses import dataclass, field

from engine.config.run_config import RunConfig
from engine.estimate.device import DeviceChoice, choose
from engine.estimate.flops import flops_per_step
from engine.estimate.layout import TESTED, generation_size, keeps_past, shapes, validation_size, writes_answer
from engine.estimate.memory import count_parameters, predict_memory
from engine.estimate.peak import bytes_beside, bytes_between_steps, peak_bytes
from engine.estimate.recording import recording_cost
from engine.estimate.speed import Speed, Speeds, known_speeds
from engine.settings.costs import Memory
from engine.settings.errors import ConfigError
from engine.tasks import TASKS

SECONDS_PER_TOKEN = 3e-8  # to draw and to answer one token of a sequence
# tokens drawn for each held-out one and for each trained one: one sequence in five is held out
HELD_OUT_DRAWS, TRAINING_DRAWS = 10, 1.5
# steps that the measured step of a baseline takes: its memory is followed tensor by tensor, and it has many small ones
FOLLOWED_STEPS = 4
TEXT_SECONDS = 0.5  # to encode a text, the first time a worker reads it


@dataclass(frozen=True)
class Prediction:
    parameters: int
    by_part: dict[str, int]
    memory: Memory
    tokens_per_step: int
    flops_per_step: float  # 6 for each weight and token (Kaplan et al. 2020, table 1), and the attention matrices
    steps_per_second: float | None  # None until the speed of the run's device is measured (engine.training.speed)
    result_seconds: float | None  # after the last step: answers written token by token, test lengths, memory
    recording_steps: float = 0.0  # validations and snapshots during the run, in training steps
    data_seconds: float = 0.0  # to draw a fixed training set and the held-out sequences
    peak: int = 0  # the highest memory of the run in bytes; an upper bound (engine.estimate.peak)
    between: int = 0  # bytes kept between two steps, while another run of its worker has its turn
    # bytes of the host that a run on an accelerator takes: its data and what is brought back to be stored
    beside: int = 0
    device: DeviceChoice = field(default_factory=DeviceChoice)

    @property
    def seconds_per_step(self) -> float | None:
        return 1 / self.steps_per_second if self.steps_per_second else None

    def seconds(self, steps: int) -> float | None:
        """The time with the run's data, its recording and the measurements after the last step."""
        if self.seconds_per_step is None or self.result_seconds is None:
            return None
        return (steps + self.recording_steps) * self.seconds_per_step + self.result_seconds + self.data_seconds


def predict(config: RunConfig, measured: Speeds | None = None) -> Prediction:
    """``measured``: the speeds of this machine, by default the stored ones."""
    sizes = shapes(config)
    parts = count_parameters(config, sizes)
    flops = flops_per_step(config, parts, sizes.length, sizes.source_length)
    known = known_speeds() if measured is None else measured
    speeds = {device: speed for device, speed in known.items() if speed.covers(config)}
    seconds = {
        device: speed.seconds_on(config, flops, config.batch_size, sizes.length) for device, speed in speeds.items()
    }
    device = choose(config.device, flops, seconds)
    speed = speeds.get(device.timed)
    memory = predict_memory(config, sizes)
    return Prediction(
        parameters=sum(parts.values()), by_part=parts, memory=memory, flops_per_step=flops,
        tokens_per_step=config.batch_size * (sizes.length + (sizes.source_length or 0)),
        steps_per_second=1 / seconds[device.timed] if speed else None,
        result_seconds=result_seconds(config, speed, parts) if speed else None,
        recording_steps=recording_cost(config), data_seconds=data_seconds(config),
        peak=peak_bytes(config, sizes, memory), between=bytes_between_steps(config, memory),
        beside=bytes_beside(config, memory), device=device,
    )  # fmt: skip


def result_seconds(config: RunConfig, speed: Speed, parts: dict[str, int]) -> float:
    """Seconds of the measurements after the last step. A pass without gradient takes a third of a training step (Kaplan et al. 2020,
    section 2.1: the backward pass computes twice as much as the forward pass)."""

    def step(n: int, sequences: int) -> float:
        sizes = shapes(config, n)
        flops = flops_per_step(config, parts, sizes.length, sizes.source_length)
        return speed.seconds_on(config, flops * sequences / config.batch_size, sequences, sizes.length)

    n, sees = config.seq_len, config.architecture.sees(config)
    memory_steps = 1 if config.architecture.attends else FOLLOWED_STEPS
    lengths = {n, *config.test_lengths} if config.test_lengths else ()
    seconds = sum(step(length, TESTED) for length in lengths) / 3 + memory_steps * step(n, config.batch_size)
    if not writes_answer(config):
        return seconds
    if keeps_past(config):  # one small pass for each token; together the FLOPs of one pass over the whole sequence
        return seconds + (n * speed.seconds_on(config, 0.0, 0, 1) + step(n, generation_size(n))) / 3
    if sees is not None:  # a pass over what the model sees, for each of n tokens
        share = min(1.0, sees / shapes(config).length)
        return seconds + n * share * step(n, generation_size(n)) / 3
    # A whole pass for each of n tokens, over three quarters of the sequence on average: a third of a step, times 3/4.
    return seconds + n * step(n, generation_size(n)) / 4


def data_seconds(config: RunConfig) -> float:
    held_out = {config.seq_len: validation_size(config.seq_len), **dict.fromkeys(config.test_lengths, TESTED)}
    tokens = sum(HELD_OUT_DRAWS * rows * n for n, rows in held_out.items())
    if TASKS[config.task].corpus:
        return TEXT_SECONDS
    return SECONDS_PER_TOKEN * (tokens + TRAINING_DRAWS * (config.dataset_size or 0) * config.seq_len)


def added_parameters(config: RunConfig, encoding: str) -> int | None:
    """The parameters that an encoding would add to this config's model; None if the two do not go together."""
    try:
        chosen = config.replace(pos_encoding=encoding)
    except ConfigError:
        return None
    return count_parameters(chosen, shapes(chosen)).get("encoding", 0)
