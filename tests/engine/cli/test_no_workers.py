from functools import partial

import pytest

from engine.cli import cluster, main
from engine.serving.pool import Pool


@pytest.mark.usefixtures("own_data_folder")
def test_a_command_whose_workers_cannot_start_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "Pool", partial(Pool, training="no.such.module"))
    assert main(["issue", "heads"]) == 1
    assert capsys.readouterr().err == (
        "python -m engine issue: Workers cannot be started; the server's log says why.\n"
    )
