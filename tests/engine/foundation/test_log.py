import logging

import pytest

from engine.foundation.log import LOG, OncePerMinute, log_error, log_failure, log_unsaved

TYPED = "my secret diary"


def raised(kind: type[Exception]) -> Exception:
    try:
        raise kind(TYPED)
    except Exception as error:
        return error


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(LOG, "propagate", True)
    monkeypatch.setattr(
        LOG, "handlers", []
    )  # pytest also listens at a log that an earlier test has made to stand alone
    caplog.set_level(logging.INFO, logger=LOG.name)
    return caplog


def test_an_error_is_logged_with_its_place_and_without_its_message(log: pytest.LogCaptureFixture) -> None:
    log_failure("Job write_on", raised(KeyError))
    assert "Job write_on: KeyError" in log.text
    assert "in raised" in log.text
    assert TYPED not in log.text

    log_error("Weights", OSError(28, "No space left on device", "/home/somebody/file"))
    assert "Weights: OSError (No space left on device)" in log.text
    assert "/home/somebody" not in log.text

    log.clear()
    log_failure("Job write_on", raised(ValueError))
    assert log.messages == ["Job write_on: ValueError"], "a reader's typo is one line"


def test_each_place_fills_the_log_once_per_minute_and_another_place_is_written() -> None:
    now = 0.0
    once = OncePerMinute(lambda: now)

    def passes(message: str, name: str = "streamlit.web", line: int = 1, error: Exception | None = None) -> bool:
        about = (type(error), error, error.__traceback__) if error else None
        return bool(once.filter(logging.LogRecord(name, logging.ERROR, "server.py", line, message, None, about)))

    assert [passes(f"Client {number} tried") for number in range(3)] == [True, False, False]
    assert [passes("Client tried", line=2) for _ in range(2)] == [True, False]
    assert [passes("A script failed", line=3, error=raised(kind)) for kind in (KeyError, TypeError) * 2] == [
        True
    ] * 2 + [False] * 2
    accept = "socket.accept() out of system resource\nsocket: "
    assert [passes(accept + str(number), "asyncio") for number in range(3)] == [True, False, False]
    assert [passes("Task was destroyed but it is pending!", "asyncio") for _ in range(2)] == [True, False]
    now = 61.0
    assert [passes("Client tried") for _ in range(2)] == [True, False]


def test_a_full_disk_is_one_line_a_minute_for_all_runs_together(
    log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e6
    monkeypatch.setattr("time.monotonic", lambda: now)
    what = "The numbers of run %s cannot be saved"
    full = OSError(28, "No space left on device", "/home/somebody/file")
    for run in ("one", "two", "one"):
        log_unsaved(what, run, full)
    assert log.messages == ["The numbers of run one cannot be saved: No space left on device"]
    log_unsaved("The weights of run %s cannot be saved", "two", full)
    assert len(log.messages) == 2, "another place has its own line"
    now += 61
    for run in ("two", "one"):
        log_unsaved(what, run, full)
    assert log.messages[2:] == ["The numbers of run two cannot be saved: No space left on device"]
    assert all(record.exc_info is None and "Traceback" not in record.getMessage() for record in log.records)
