import json
import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from engine.cli import main
from engine.cli.issue import claims_table, summary_table
from engine.config.link import as_options
from engine.config.presets import PRESETS
from engine.encodings import ENCODINGS
from engine.estimate.speed import BASELINES, BaselineSpeed, Speed, remember_speeds, speed_file
from engine.experiments.benchmark.criteria import COMPARED, CRITERIA
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.long_findings import Side, SpeedFinding
from engine.experiments.long_runs import Kind
from engine.experiments.statistics import Weighed
from engine.foundation.provenance import provenance
from engine.serving.pool import Pool
from engine.training import speed
from tests.engine.experiments.fake_issue import fake_issue, fake_report
from tests.engine.serving.test_pool import FAKE, some
from tests.tables import tables_beside

CASES = tables_beside(__file__)

Printed, Patch = pytest.CaptureFixture[str], pytest.MonkeyPatch


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def printed(capsys: Printed, *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def rows_of(capsys: Printed, *arguments: str) -> list[dict[str, Any]]:
    return lines(printed(capsys, *arguments, "--json"))


@pytest.fixture
def fake(monkeypatch: Patch) -> None:
    """Replace an issue by one whose runs take no time, with workers for it."""
    monkeypatch.setitem(ISSUES, "fake", fake_issue(base={"steps": 9, "learning_rate": 0.001}))
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))


def test_train_prints_a_table_for_a_person_or_one_json_object_a_line(capsys: Printed) -> None:
    rows = rows_of(capsys, "train", "--steps", "5", "--test-lengths", "6,9")
    assert [row["event"] for row in rows if row["event"] != "snapshot"] == ["started", *["progress"] * 5, "finished"]
    assert {"second_half_accuracy", "first_half_accuracy", "loss"} <= set(rows[-1]["metrics"])
    assert [row["length"] for row in rows[-1]["by_length"]] == [6, 9]
    assert rows[-1]["memory"]["saved"] > 0
    assert [row["provenance"] for row in rows if "provenance" in row] == [provenance()], "once, at the start"

    out = printed(capsys, "train", "--steps", "3")
    assert "Held-out sequences after 3 steps" in out
    assert "Measured memory" in out


def test_depth_measures_first_weights_by_depth_or_a_saved_run_by_layer(capsys: Printed, tmp_path: Path) -> None:
    options = ("depth", "--encoding", "alibi", "--depths", "2,1", "--length", "9", "--seeds", "2")
    rows = rows_of(capsys, *options)
    assert [(row["draw"], row["depth"]) for row in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [len(row["roll_out"]) for row in rows] == [9] * 4
    assert rows[0]["lengths"] == [8, 9]
    assert set(rows[0]["gradient"]) == {"pre", "post"}

    out = printed(capsys, *options)
    assert "alibi, untrained, length 9, median of 2 seeds" in out
    assert "Do tokens stay different? After 2 layers, tokens differ by" in out

    folder = str(tmp_path / "run")
    printed(capsys, "train", "--steps", "3", "--n-layers", "3", "--save", folder)
    assert [row["depth"] for row in rows_of(capsys, "depth", folder)] == [1, 2, 3]


def test_a_failed_run_says_why_and_exits_with_one(capsys: Printed) -> None:
    code = main(["train", *as_options(PRESETS["no-norm"].config.flat()), "--json"])
    last = lines(capsys.readouterr().out)[-1]
    assert (code, last["event"]) == (1, "failed")
    assert last["tensor"] in last["reason"]
    assert last["remedy"]


def test_settings_without_effect_are_said_beside_the_result(capsys: Printed) -> None:
    assert main(["predict", "--family", "GRU", "--pos-encoding", "fire", "--n-heads", "8", "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == "A GRU has no attention: positional encoding, heads, scores and the MLP are not used.\n"
    assert lines(output.out)


@pytest.mark.parametrize(("arguments", "expected"), CASES["refused"])
def test_bad_input_is_one_line(arguments: list[str], expected: str, capsys: Printed) -> None:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code  # type: ignore[assignment]
    message = capsys.readouterr().err
    assert code == 2
    assert expected in message
    assert len(message.splitlines()) == 1


def test_encodings_and_issues_are_listed(capsys: Printed) -> None:
    rows = {row["name"]: row for row in rows_of(capsys, "encodings")}
    assert list(rows) == list(ENCODINGS)
    assert rows["nope"]["parameters"] == rows["rope"]["parameters"] == 0
    assert (rows["learned"]["parameters"], rows["alibi"]["acts_on"]) == (11 * 32, "scores")
    assert all(row["source"] for row in rows.values())
    assert [row["provenance"] for row in rows.values()] == [provenance()] * len(rows)

    rows = {row["slug"]: row for row in rows_of(capsys, "issues")}
    assert rows.keys() == ISSUES.keys()
    assert set(rows["missing-mask"]) == {"slug", "group", "title", "claims"}
    assert "missing-mask" in printed(capsys, "issues")


def test_the_evidence_on_each_encoding_is_listed(capsys: Printed) -> None:
    every = rows_of(capsys, "encodings", "--evidence")
    assert len(every) == len(COMPARED) * sum(len(one.times) for one in CRITERIA.values())
    assert all(cell["provenance"] == provenance() for cell in every)
    shown = printed(capsys, "encodings", "--evidence")
    assert all(word in shown for word in ("Characters, a short training, 4×", "Few data, counting", "RoPE"))


def test_predict_agrees_with_the_model(capsys: Printed, monkeypatch: Patch) -> None:
    from engine.config.run_config import RunConfig
    from engine.training.train import prepare

    speed_file().unlink()  # so that it is measured, on a few steps
    monkeypatch.setattr(speed, "TIMED", dict.fromkeys(speed.TIMED, 3))
    monkeypatch.setattr(speed, "BASELINE_TIMED", 3)
    (row,) = rows_of(capsys, "predict", "--n-layers", "3", "--pos-encoding", "shaw")
    model = prepare(RunConfig().replace(n_layers=3, pos_encoding="shaw"))
    assert row["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert row["steps_per_second"] > 0
    assert row["provenance"] == provenance()


def test_predict_tells_the_time_on_the_device_that_the_settings_ask_for(capsys: Printed) -> None:
    core, gpu = (
        Speed(each, 1e10, tuple(BaselineSpeed(family, each, 0, 0, 0) for family in BASELINES)) for each in (1e-3, 1e-4)
    )
    remember_speeds({"cpu": core, "cuda": gpu})
    for device, words in (("auto", "on cuda. A step is predicted to take"), ("cpu", "on one CPU core.")):
        assert words in " ".join(printed(capsys, "predict", "--device", device).split())


def test_predict_needs_no_disk(capsys: Printed, monkeypatch: Patch) -> None:
    monkeypatch.setattr(speed, "TIMED", dict.fromkeys(speed.TIMED, 3))
    monkeypatch.setattr(speed, "BASELINE_TIMED", 3)
    monkeypatch.setenv("ATTENTION_LAB_DATA", "/dev/null/read-only")
    assert rows_of(capsys, "predict")[0]["steps_per_second"] > 0


@pytest.mark.parametrize("folder", ["/proc/x", "/dev/null/x"])
def test_a_folder_that_cannot_be_made_is_told_in_one_line_before_anything_is_trained(
    folder: str, capsys: Printed
) -> None:
    assert main(["train", "--steps", "1", "--save", folder]) == 2
    output = capsys.readouterr()
    assert folder in output.err
    assert output.err.count("\n") == 1
    assert "Held-out" not in output.out


@pytest.mark.usefixtures("fake")
def test_an_issue_runs_to_its_verdict_and_asked_again_it_trains_nothing(capsys: Printed, monkeypatch: Patch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_WORKERS", "1")
    rows = rows_of(capsys, "issue", "fake", "--seeds", "2")
    arms = fake_issue().arms_of()
    assert [row["event"] for row in rows] == ["trial"] * 2 * len(arms) + ["report"]
    assert rows[-1]["finding"] == "undecided"  # two seeds cannot decide
    assert rows[-1]["provenance"] == provenance()
    assert all(len(arm["values"]) == 2 for arm in rows[-1]["arms"])

    monkeypatch.setattr(Pool, "submit", None)
    again = rows_of(capsys, "issue", "fake", "--seeds", "2")
    numbers, numbers_again = (
        {(row["arm"], row["seed"]): row["numbers"] for row in all_of[:-1]} for all_of in (rows, again)
    )
    assert numbers_again == numbers


@pytest.mark.usefixtures("fake")
def test_beside_the_verdict_stands_what_stored_long_runs_say(capsys: Printed, monkeypatch: Patch) -> None:
    assert rows_of(capsys, "issue", "fake", "--seeds", "2")[-1]["long_runs"] == {}
    before, after = fake_issue().key_figure.rows
    ratio = Weighed(Finding.HOLDS, 1.0, (0.5, 1.5), 0.01, 16, "")
    found = SpeedFinding(Kind.SPEED, 0.9, 16, Side(after, 13, 40.0), Side(before, 16, 10.0), ratio, flat=True)
    monkeypatch.setattr(
        "engine.cli.issue.shipped_long_findings", lambda issue: {"first": found} if issue.slug == "fake" else {}
    )
    assert rows_of(capsys, "issue", "fake", "--seeds", "2")[-1]["long_runs"] == {"first": found.to_json()}
    assert f"Stored long runs: {found.sentence}" in " ".join(printed(capsys, "issue", "fake", "--seeds", "2").split())


@pytest.mark.usefixtures("fake")
def test_an_earlier_slug_runs_the_issue_that_it_has_become(capsys: Printed, monkeypatch: Patch) -> None:
    monkeypatch.setitem(RENAMED, "earlier-fake", "fake")
    assert rows_of(capsys, "issue", "earlier_fake", "--seeds", "2")[-1]["slug"] == "fake"


def test_train_takes_a_text_of_ones_own(tmp_path: Path, capsys: Printed) -> None:
    file = tmp_path / "own.txt"
    file.write_text("a rose is a rose is a rose\n" * 80, encoding="utf-8")
    given = ["train", "--task", "shakespeare_words", "--vocab-size", "20", "--steps", "40", "--text-file", str(file)]
    *_, finished, counted = rows_of(capsys, *given, "--save", str(tmp_path / "run"))
    assert finished["metrics"]["perplexity"] < 3, "hardly more than which of two tokens follows a rose"
    assert counted["event"] == "counting_models"
    assert counted["levels"]["bigram"] < counted["levels"]["unigram"]
    sample = ["sample", str(tmp_path / "run"), "--prompt", "a", "--length", "4", "--temperature", "0"]
    assert main(sample) == 0
    output = capsys.readouterr()
    assert output.out.startswith("a rose")
    assert output.err == ""
    assert main([*sample[:3], "a zebra's rose", *sample[4:]]) == 0
    assert capsys.readouterr().err == (
        "“zebra”, “'”, “s” are not in the vocabulary: the model reads the unknown token there.\n"
    )
    assert main([*sample[:3], "a \udcff", *sample[4:]]) == 2
    assert "no text in UTF-8" in capsys.readouterr().err
    assert main(["sample", str(tmp_path), "--prompt", "a"]) == 2
    assert "not a folder that train --save wrote" in capsys.readouterr().err
    file.write_bytes(b"\xff" * 5000)
    assert main(given) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_a_leak_is_named_before_and_after_training(tmp_path: Path, capsys: Printed) -> None:
    file = tmp_path / "told.txt"
    file.write_text("the cat saw the queen and then the day was done.\n" * 60)
    given = ["--softmax-axis", "query", "--attention-impl", "materialised"]
    on_text = ["--task", "shakespeare_chars", "--text-file", str(file), "--steps", "30"]
    for task, sentence in (
        (["--task", "copy", "--steps", "150"], "False success. With the right answers as input"),
        (on_text, "The run's score leaks"),
    ):
        assert main(["train", *task, *given]) == 0
        out, err = capsys.readouterr()
        assert "With the softmax over the queries, each weight depends on later symbols." in err
        assert sentence in " ".join(out.split())
        assert "Learned" not in out


def test_of_a_text_of_unknown_words_no_number_stands_alone(tmp_path: Path, capsys: Printed) -> None:
    draw = random.Random(0)
    file = tmp_path / "han.txt"
    file.write_text("".join("".join(map(chr, draw.choices(range(0x4E00, 0x9FA5), k=6))) + "。" for _ in range(800)))
    given = ["train", "--task", "shakespeare_words", "--text-file", str(file), "--vocab-size", "100", "--steps", "2"]
    shown = printed(capsys, *given)
    assert "unknown share" in shown
    assert "of the held-out tokens are unknown, that is, not in the vocabulary; over the others accuracy is" in shown
    assert "says little: characters are the better unit" in shown
    assert re.search(
        "Counting models on the same held-out windows; 50.\\d% of the held-out tokens", " ".join(shown.split())
    )
    assert "known perplexity" in shown
    *_, finished, counted = rows_of(capsys, *given)
    assert finished["metrics"]["unknown_share"] == pytest.approx(0.5, abs=0.02)
    assert counted["known"].keys() == counted["levels"].keys()


def printed_table(table: Table) -> str:
    console = Console(width=200)
    with console.capture() as output:
        console.print(table)
    return output.get()


def test_claims_are_told_in_the_words_of_the_pages_counted_and_without_interval_and_p_where_all_is_alike() -> None:
    output = printed_table(claims_table(fake_report()))
    assert "fake: Holds (seeds 0 to 5, 12 s)" in output
    assert "0.031" in output
    assert "Holm" not in output
    assert "Holm" in printed_table(claims_table(fake_report(range(16))))
    assert "fake: The opposite holds" in printed_table(claims_table(fake_report(short=-0.3)))
    assert "Undecided (needs at least six seeds)" in printed_table(claims_table(fake_report(range(5))))

    output = printed_table(claims_table(fake_report(noise=0.0)))
    assert "+0.4 nats" in output
    assert "0.031" not in output
    assert "+0.4 to" not in output

    (line,) = [
        line for line in printed_table(summary_table([fake_report(short=-0.3)], 60)).splitlines() if "fake" in line
    ]
    assert "The opposite holds" in line
    assert "1 of 2" in line
