"""The page's process gathers and weighs evidence, and writes out a design, without torch."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import engine.encodings.designed.code
from engine.experiments.evidence import store
from engine.experiments.running import experiment_run, trial_cache
from engine.experiments.issues import ISSUES
from engine.experiments.report import report
for issue in ISSUES.values():
    report(issue, (), range(8))
    for arm in issue.arms:
        issue.config(arm), issue.changes(arm), issue.record(arm)
print([name for name in ("torch", "pandas", "streamlit") if name in sys.modules])
"""


def test_no_heavy_library_is_loaded() -> None:
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
