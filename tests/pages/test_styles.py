import re
from pathlib import Path

import pytest

from pages.parts.charts.colors import custom_properties
from tests.serving import ROOT

PAGES = ROOT / "pages"
KINDS = {".css", ".html", ".js", ".py", ".toml"}
COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3,4}){1,2}\b")
STREAMLITS = re.compile(r"data-test|data-stale\b|\.st[A-Z]")


def files_with(pattern: re.Pattern[str]) -> set[Path]:
    files = [file for file in PAGES.rglob("*") if file.suffix in KINDS]
    return {file.relative_to(PAGES) for file in files if pattern.search(file.read_text("utf-8"))}


def test_colours_stand_in_one_file() -> None:
    assert files_with(COLOR) == {Path("parts/charts/colors.py")}


@pytest.mark.parametrize("file", ["parts/app/streamlit.css", "parts/experiments/handouts.html", "parts/start.css"])
def test_a_colour_that_a_style_names_is_there(file: str) -> None:
    there = set(re.findall(r"--color-[\w-]+(?=:)", custom_properties()))
    assert (named := set(re.findall(r"var\((--color-[\w-]+)\)", (PAGES / file).read_text("utf-8"))))
    assert named <= there


def test_elements_of_streamlits_own_are_named_in_one_stylesheet_and_one_script() -> None:
    assert files_with(STREAMLITS) == {Path("parts/app/streamlit.css"), Path("parts/app/streamlit.js")}
