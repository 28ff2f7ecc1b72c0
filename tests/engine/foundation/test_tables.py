from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from engine.foundation.tables import Text, read_tables


@dataclass(frozen=True)
class Example:
    slug: str
    text: Text
    kind: Literal["good", "bad"] = "good"
    words: tuple[str, ...] = ()


def read(tmp_path: Path, content: str) -> dict[str, Example]:
    file = tmp_path / "examples.toml"
    file.write_text(content, "utf-8")
    return read_tables(file, Example)


def test_a_table_is_a_value(tmp_path: Path) -> None:
    found = read(tmp_path, '[one]\ntext = """\nOne line,\nanother."""\nwords = ["a", "b"]\n[two]\ntext = "Short."\n')
    assert found == {"one": Example("one", "One line, another.", words=("a", "b")), "two": Example("two", "Short.")}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('[one]\ntext = "A"\ntexts = "B"\n', r"one\.texts"),
        ('[one]\nkind = "good"\n', r"one\.text"),
        ('[one]\ntext = "A"\nkind = "other"\n', r"one\.kind"),
        ("[one]\ntext = 1\n", r"one\.text"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, content: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read(tmp_path, content)
