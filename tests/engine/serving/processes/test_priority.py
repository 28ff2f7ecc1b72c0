import sys

import psutil
import pytest

from engine.serving.processes.priority import NICENESS_VARIABLE
from tests.engine.serving.processes.test_child import Child
from tests.engine.serving.test_pool import PATIENCE

CODE = """
import os
from engine.serving.processes.priority import JOBS, TRAINING, give_way
for niceness in (JOBS, TRAINING, JOBS):
    give_way(niceness)
    print(os.getpriority(os.PRIO_PROCESS, 0), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has classes of priority, no niceness.")
@pytest.mark.parametrize(("most", "found"), [(None, [10, 15, 15]), ("12", [10, 12, 12]), ("0", [0, 0, 0])])
def test_a_process_gives_way_as_far_as_the_host_allows(
    monkeypatch: pytest.MonkeyPatch, most: str | None, found: list[int]
) -> None:
    monkeypatch.delenv(NICENESS_VARIABLE, raising=False)
    if most is not None:
        monkeypatch.setenv(NICENESS_VARIABLE, most)
    child = Child(["-c", CODE])
    assert child.process.wait(PATIENCE)
    before = int(psutil.Process().nice())
    assert child.messages == [max(before, niceness) for niceness in found]
