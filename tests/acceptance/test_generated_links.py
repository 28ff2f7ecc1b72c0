import string
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config.run_config import settings_for
from engine.settings.fields import to_text
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.page_state import NAMES, PageSettings, read_visibility
from tests.pages.test_hostile_links import HOSTILE, assert_harmless

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("own_data_folder")]
MODULES = (
    "encodings.state",
    "questions.state",
    "lab.apart_state",
    "lab.state",
    "cost",
    "depth",
    "notebooks.screen",
    "teach",
)
PAGES: dict[str, PageSettings] = {name: import_module(f"pages.parts.{name}").SETTINGS for name in MODULES}
LINKS = 10_000
ODD = (
    "", "0", "-1", "1e309", "nan", "-inf", "9" * 60, "9" * 5000, "1,2,3", ",,", "true", "false", "auto", "None", "null", "٣", "４",
    "\x00", "\udcff", "../../etc/passwd", "<script>", "a" * 5000, *HOSTILE,
)  # fmt: skip


def names_of(page: PageSettings) -> list[str]:
    names = {*page.defaults(), *page.controls(), *(row.name for row in settings_for())}
    return sorted(names | {*NAMES, "run", "preset", "v", "nobody"})


def texts(page: PageSettings, name: str) -> st.SearchStrategy[str]:
    """Values of a setting: allowed ones, near ones, and any text."""
    row = page.rows().get(name)
    fitting = [str(choice) for choice in (row.choices if row is not None else ())]
    return st.one_of(
        st.sampled_from(ODD), st.integers(-10, 5000).map(str), st.floats().map(repr), st.text(max_size=40),
        st.text(string.ascii_letters + string.digits + "_-,.", max_size=20), *([st.sampled_from(fitting)] * 2 if fitting else []),
    )  # fmt: skip


@st.composite
def links(draw: st.DrawFn, page: PageSettings) -> dict[str, str]:
    names = draw(st.lists(st.sampled_from(names_of(page)) | st.text(min_size=1, max_size=12), max_size=8, unique=True))
    return {name: draw(texts(page, name)) for name in names}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_is_read_into_values_and_sentences(name: str) -> None:
    page, found, each = PAGES[name], [0, 0], -(-LINKS // len(PAGES))

    @settings(max_examples=each, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(links(page))
    def read(link: dict[str, str]) -> None:
        values, problems = page.read({name: text for name, text in link.items() if name not in NAMES})
        _, unknown = read_visibility(link, page.controls())
        found[0] += 1
        found[1] += bool(problems or unknown)
        for problem in (*problems, *unknown):
            assert_harmless(in_markdown(problem))
            assert len(str(problem).splitlines()) == 1
        assert values is None or isinstance(values, dict)
        if values is not None:
            again, remaining = page.read(to_link(page, values))
            assert not remaining, remaining
            assert again == values or again is None

    read()
    assert found[0] >= LINKS / len(PAGES)
    assert 0 < found[1] < found[0]  # both kinds were met


def to_link(page: PageSettings, values: dict[str, Any]) -> dict[str, str]:
    usual = page.defaults()
    return {name: to_text(value) for name, value in values.items() if usual.get(name, ...) != value}
