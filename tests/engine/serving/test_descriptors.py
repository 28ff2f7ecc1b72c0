import subprocess
import sys

import pytest

from engine.serving import descriptors
from engine.serving.processes.fork_server import ROOT

SCRIPT = """
import resource
from engine.serving import descriptors
descriptors.raise_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], descriptors.allowed(), descriptors.for_tabs())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [
        (64, 256, "256 256 10"),
        (256, 1024, "1024 1024 74"),
        (1024, 20_000, "10240 10240 842"),
        (15_000, 20_000, "15000 10240 842"),
    ],
)
def test_the_soft_limit_is_raised_to_the_hard_one_as_far_as_a_server_makes_use_of_it(
    soft: int, hard: int, then: str
) -> None:
    shell = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"'
    command = ["sh", "-c", shell, "-", sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "ulimit" in done.stderr:
        pytest.skip(f"this machine allows fewer: {done.stderr.strip()}")
    assert (done.stdout.strip(), done.stderr) == (then, "")


def test_tabs_and_requests_together_stay_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = 3 * 128  # Streamlit keeps so many sessions whose tab is closed, with three descriptors each
    for allowed in (1024, 4096, descriptors.MAX_DESCRIPTORS):
        monkeypatch.setattr(descriptors, "allowed", lambda allowed=allowed: allowed)
        most = 4 * descriptors.for_tabs() + stored + descriptors.for_requests() + descriptors.RESERVED
        assert most <= allowed
