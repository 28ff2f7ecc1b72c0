import re
import tomllib
from datetime import date

from engine import RELEASED, VERSION
from pages.parts.encodings.evidence import citation
from tests.serving import ROOT


def test_code_project_and_citation_have_one_version_and_one_day() -> None:
    lines = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    named = dict(line.split(": ", 1) for line in lines if re.match(r"[\w-]+: \S", line))
    assert (named["version"], date.fromisoformat(named["date-released"])) == (VERSION, date.fromisoformat(RELEASED))
    assert {"cff-version", "message", "title", "license"} <= named.keys()
    assert "authors:" in lines
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"] == VERSION


def test_the_page_cites_this_version() -> None:
    text = citation()
    assert text.count(VERSION) == 2
    assert f"year    = {{{RELEASED[:4]}}}" in text
    assert "$" not in text
