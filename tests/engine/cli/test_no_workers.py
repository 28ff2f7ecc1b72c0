"""Commands whose workers cannot start say so in one sentence and end."""

from functools import partial

import pytest

from engine.cli import cluster, main
from engine.workers.pool import Pool


@pytest.mark.usefixtures("own_data_folder")
@pytest.mark.parametrize("command", ["issue heads", "cost --longest 128", "encodings --measure"])
def test_a_command_whose_workers_cannot_start_ends_with_a_sentence(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "Pool", partial(Pool, training="no.such.module"))
    assert main(command.split()) == 1
    name = command.split()[0]
    assert capsys.readouterr().err == (
        f"python -m engine {name}: Workers cannot be started; the server's log says why.\n"
    )
