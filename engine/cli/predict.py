import argparse
from dataclasses import asdict

from engine.cli.arguments import config_from
from engine.cli.terminal import console, memory_table, print_json, table
from engine.config.run_config import RunConfig
from engine.estimate.device import device_in_words
from engine.estimate.prediction import Prediction, predict
from engine.estimate.speed import fully_measured
from engine.foundation.formatting import in_bytes
from engine.foundation.provenance import provenance


def run(arguments: argparse.Namespace) -> int:
    config = config_from(arguments)
    speeds = None
    if not fully_measured():
        import torch  # about a second; once per machine

        from engine.training.speed import measure_speed

        torch.set_num_threads(1)
        speeds = measure_speed()
    prediction = predict(config, speeds)
    if config.device not in ("auto", "cpu"):
        from engine.training.device import choose_device

        choose_device(config, prediction)  # refuses where train would
    if arguments.json:
        print_json({**asdict(prediction), "provenance": provenance()})
    else:
        show(prediction, config)
    return 0


def show(prediction: Prediction, config: RunConfig) -> None:
    output, steps = console(), config.steps
    rows = ((part, f"{count:,}") for part, count in prediction.by_part.items())
    output.print(table(f"{prediction.parameters:,} parameters", ("part", "parameters"), rows, left=1))
    output.print(memory_table(prediction.memory, "Predicted memory of a training step"))
    output.print(f"The run takes at most {in_bytes(prediction.peak)} besides the program, and usually far less.")
    seconds = prediction.seconds(steps)
    if seconds is not None:
        output.print(
            f"About {prediction.steps_per_second:,.0f} steps per second: {seconds:,.1f} s for {steps:,} steps and the "
            f"measurements after them ({prediction.result_seconds:,.1f} s), on {device_in_words(prediction.device.timed)}. "
            f"{prediction.device.why}".rstrip()
        )
    else:
        output.print(f"The speed of {prediction.device.timed} is not measured on this machine.")
