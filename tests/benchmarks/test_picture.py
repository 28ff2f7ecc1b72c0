import pytest

from tests.benchmarks import picture


@pytest.mark.browser
def test_the_benchmark_of_the_picture_measures_every_model_at_both_widths(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(picture, "REDRAWS", 2)
    monkeypatch.setattr(picture, "CASES", {"small": {"n_layers": 2}, "with an encoder": {"family": "encoder_decoder"}})
    picture.main()
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[1].strip(), int(row[2])) for row in rows] == [
        (name, width) for name in ("small", "with an encoder") for width in (1120, 358)
    ]
    assert all(0 < float(row[3]) <= float(row[4]) for row in rows)
