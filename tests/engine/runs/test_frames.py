from engine.runs.events import Finished, Progress
from engine.runs.frames import lengths_frame, steps_frame
from engine.settings.costs import Memory

EVENTS = [
    Progress(1, 2.5, 0.1, 1e-05, 100.0, {"accuracy": 0.25}, {"loss": 2.25, "accuracy": 1 / 3}),
    Progress(2, 2.0, 1e20, 0.001, 100.0, {"accuracy": 0.5}),
]


def test_a_row_for_each_step_with_every_digit() -> None:
    assert steps_frame(EVENTS).to_csv(index=False, lineterminator="\n") == (
        "step,loss,gradient norm,learning rate,training accuracy,validation loss,validation accuracy\n"
        "1,2.5,0.1,1e-05,0.25,2.25,0.3333333333333333\n"
        "2,2.0,1e+20,0.001,0.5,,\n"
    )
    assert steps_frame([]).empty


def test_a_row_for_each_test_length_without_its_note() -> None:
    rows = [{"length": 8, "trained": True, "loss": 0.5}, {"length": 16, "trained": False, "note": "A table ends at 8."}]
    frame = lengths_frame(Finished(2, {}, rows, Memory(1, 1, 1, 1, 1), 1.0))
    assert list(frame) == ["length", "trained", "loss"]
    assert frame["loss"].isna().tolist() == [False, True]
