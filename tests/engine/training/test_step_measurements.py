import dataclasses

import pytest
import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.runs.events import Progress
from engine.training.step_measurements import MEASUREMENTS, MeasuredModel, StepMeasurement, fields_of, numbers_of_step
from engine.training.steps import Numbers, SingleSteps, StepOutput, StepProbe
from engine.training.train import begin


def test_each_measurement_is_a_field_of_a_step() -> None:
    assert set(MEASUREMENTS) <= {field.name for field in dataclasses.fields(Progress)}


def test_numbers_come_back_under_their_names_and_are_kept_apart_from_the_next_ones() -> None:
    numbers = Numbers.of({"first": torch.tensor([1.0, 2.0]), "none": torch.empty(0), "second": torch.tensor([3.0])})
    first = numbers.copy()
    numbers.values.fill_(7.0)
    assert first.read() == {"first": [1.0, 2.0], "none": [], "second": [3.0]}


@pytest.mark.parametrize("first", [True, False], ids=["before the others", "after them"])
def test_a_new_measurement_is_one_entry_and_changes_no_other(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    state = begin(RunConfig(steps=2, n_layers=2, n_heads=1, seq_len=6))
    validated = state.data.validation_batch(size=4)
    run = MeasuredModel(state.config, state.model, validated)
    steps = SingleSteps(state, StepProbe(lambda read: numbers_of_step(run, read), {1}))

    def weights(run: MeasuredModel, _: StepOutput) -> Tensor:
        return torch.stack([parameter.detach().norm() for parameter in run.model.parameters()])

    names = [name for name, _ in state.model.named_parameters()]
    added = {"weights": StepMeasurement(weights, lambda _, found, __, ___: dict(zip(names, found, strict=True)))}
    usual = dict(MEASUREMENTS)
    monkeypatch.setattr("engine.training.step_measurements.MEASUREMENTS", added | usual if first else usual | added)
    step = steps.take_one()
    fields = fields_of(run, step, steps.last)
    assert list(fields["weights"]) == names
    assert fields["weights"] == pytest.approx({name: p.norm().item() for name, p in state.model.named_parameters()})
    monkeypatch.setattr("engine.training.step_measurements.MEASUREMENTS", usual)
    assert step.measured is not None
    alone = fields_of(
        run, dataclasses.replace(step, measured={k: v for k, v in step.measured.items() if k in usual}), steps.last
    )
    assert alone == {name: fields[name] for name in usual}
    norms = alone["grad_norms"]
    assert sum(norm**2 for norm in norms.values()) ** 0.5 == pytest.approx(step.grad_norm, rel=1e-4)
    assert alone["validation"].keys() == {"loss", *alone["metrics"]}
