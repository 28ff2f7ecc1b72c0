import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from engine.experiments.lessons import from_code
from pages.parts import cost, start, teach
from pages.parts.app.earlier import EARLIER, redirect
from pages.parts.app.frame import file_at
from pages.parts.app.page_state import LESSON_PARAMETERS, NAMES, PageSettings
from pages.parts.encodings import state as encodings
from pages.parts.lab import apart_state as apart
from pages.parts.lab import state as lab
from pages.parts.notebooks import screen as notebooks
from pages.parts.questions import state as questions
from tests.tables import tables_beside

SAVED = tables_beside(__file__)["link"]
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "record.json").read_text())["links"]
OTHERS = ("term", "class")  # names that the frame and a phone read
SETTINGS: Mapping[str, PageSettings] = {
    f"{one.__name__.split('.')[2]}.py": one.SETTINGS
    for one in (cost, start, teach, encodings, lab, notebooks, questions)
}

pytestmark = pytest.mark.usefixtures("own_data_folder")


def opened(link: str) -> tuple[str, dict[str, Any], list[str]]:
    """The file of the page that a link opens, the values that it sets there, and the names in it that are ignored."""
    address, _, text = link.partition("?")
    query = dict(parse_qsl(text, keep_blank_values=True))
    now = redirect(address, query)
    file, query = (now.file, now.query(query)) if now else (file_at(address), query)
    if "lesson" in query:
        from_code(query["lesson"])  # raises no error
    query = {name: text for name, text in query.items() if name not in (*LESSON_PARAMETERS, *NAMES, *OTHERS)}
    chosen = {name: query.pop(name) for name in list(query) if file == "lab.py" and apart.of_apart(name)}
    values, problems = SETTINGS[file].read(query) if file in SETTINGS else ({}, [])
    if chosen:
        of_apart, more = apart.SETTINGS.read({name.partition(".")[2] or "view": one for name, one in chosen.items()})
        values, problems = (values or {}) | {f"apart.{name}": one for name, one in of_apart.items()}, problems + more
    return file, values or {}, [problem.setting for problem in problems]


@pytest.mark.parametrize("row", SAVED, ids=lambda row: row["saved"])
def test_a_saved_link_opens_its_page_of_today_with_all_that_it_asks_for(row: dict[str, Any]) -> None:
    file, values, ignored = opened(row["saved"])
    assert (file, ignored) == (row["page"], [])
    now = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    assert row["means"].items() <= now.items()


def test_every_earlier_address_is_among_them_and_a_hundred_links_to_the_lab_mean_what_they_meant() -> None:
    assert {*EARLIER} <= {row["saved"].partition("?")[0] for row in SAVED}
    for link, before in GOLDEN.items():
        assert opened(f"lab?{link}")[2] == before["ignored"]
