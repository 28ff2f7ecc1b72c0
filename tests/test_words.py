"""The words of the project: sentences are short, and say things by their plain names. ``words.toml`` beside it has the rules."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
CODE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]+\$|<[^>]*>|\]\([^)]*\)|https?://\S+|:material/\w+:|^\|.*$", re.S | re.M
)
"""The parts of a text that are no prose: code, formulas, tags, addresses, tables."""
PROSE = re.compile(r"(?:[A-Za-z]{2,}[^\w]+){2}[A-Za-z]{2,}")
ENDS = re.compile(r"(?<=[.?!:;])[\"”*)_]*\s+|\n\s*\n|\n\s*(?:[-#>]|\d+\.)\s| · ")


class Text(NamedTuple):
    kind: str
    file: str
    line: int
    words: str


@cache
def texts() -> tuple[Text, ...]:
    """What a person reads in the app and on the command line, the documents, and the first lines of docstrings."""
    read: list[tuple[str, Path, int, str]] = []
    for file in sorted(path for folder in ("pages", "engine") for path in (ROOT / folder).rglob("*.*")):
        if file.suffix == ".py":
            read += [(kind, file, line, words) for kind, line, words in _of_python(ast.parse(file.read_text("utf-8")))]
        elif file.suffix == ".js":
            for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
                strings = re.findall(r"[\"`]([^\"`]*)[\"`]", line.partition(" // ")[0])
                read += [("screen", file, number, re.sub(r"\$\{[^}]*\}", "x", one)) for one in strings]
        elif file.suffix == ".toml":
            kind = "text" if file.name == "glossary.toml" else "screen"
            read += [(kind, file, 1, one) for one in _values(tomllib.loads(file.read_text("utf-8")))]
        elif file.suffix == ".md" and file.is_relative_to(ROOT / "pages"):
            read.append(("text", file, 1, file.read_text("utf-8")))
        elif (
            file.suffix == ".md"
            and file.is_relative_to(ROOT / "engine" / "experiments")
            and file.parent.name != "evidence"
        ):
            parts = re.split(r"^(?=## )", file.read_text("utf-8").rpartition("+++\n")[2], flags=re.M)  # below its TOML
            claims = file.name == "conclusions.md"
            kinds = ["claim" if claims or part.startswith("## Claims") else "text" for part in parts]
            read += [(kind, file, 1, part) for kind, part in zip(kinds, parts, strict=True)]
    documents = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    read += [("document", file, 1, file.read_text("utf-8")) for file in documents]
    return tuple(
        Text(kind, file.relative_to(ROOT).as_posix(), line, words)
        for kind, file, line, words in read
        if kind == "docstring" or PROSE.search(CODE.sub(" ", words))
    )


def _values(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for one in tree.values() if isinstance(tree, dict) else tree:
            yield from _values(one)


def _of_python(tree: ast.AST) -> Iterator[tuple[str, int, str]]:
    """Kind, line and words of each docstring and each other text of a module; what a text fills in is an "x"."""
    done: set[ast.AST] = set()
    for node in ast.walk(tree):  # whatever holds a text comes before it
        match node:
            case ast.Expr(ast.Constant(str(words)) as constant):
                done.add(constant)
                yield "docstring", node.lineno, words.strip().partition("\n")[0]
            case ast.JoinedStr(values):
                done.update(ast.walk(node))
                yield (
                    "screen",
                    node.lineno,
                    "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in values),
                )
            case ast.Constant(str(words)) if node not in done:
                yield "screen", node.lineno, words


def problems(text: Text) -> Iterator[str]:
    """One line for each rule that the text breaks, with its place and what would be better."""
    if text.kind == "docstring":
        for opening, folders in RULES["openings"].items():
            if re.match(rf"(?:{opening})\b", text.words) and text.file.startswith(tuple(folders)):
                yield f"“{text.words}”; better: a noun, or a verb such as Return"
        return
    for pattern, better in (RULES["banned"]["everywhere"] | RULES["banned"].get(text.kind, {})).items():
        for found in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", text.words, re.IGNORECASE):
            yield f"“{found[0]}” in “{text.words[max(0, found.start() - 40) : found.end() + 40]}”; better: {better}"
    longest = RULES["longest"][text.kind]
    for sentence in ENDS.split(CODE.sub(" x ", re.sub(r"\b(al|no|eq)\. ", r"\1 ", text.words))):
        if PROSE.search(sentence) and (count := len(re.findall(r"[^\W\d_][\w'’-]*", sentence))) > longest:
            yield f"{count} words where {longest} are allowed: {' '.join(sentence.split())}"


def test_every_text_has_plain_words_and_short_sentences() -> None:
    found = {f"{text.file}:{text.line}: {problem}": text.file for text in texts() for problem in problems(text)}
    needed = [
        [line for line, file in found.items() if file.startswith(one["file"]) and one["words"] in line]
        for one in RULES["exceptions"]
    ]
    left = [line for line in found if not any(line in lines for lines in needed)]
    assert not left, "\n".join(left)
    idle = [one for one, lines in zip(RULES["exceptions"], needed, strict=True) if not (lines and one["why"])]
    assert not idle, f"These exceptions are no longer needed: {idle}"


def test_the_rules_find_what_they_ban() -> None:
    word, length = problems(Text("screen", "pages/a.py", 3, f"Look at the wall. {'One more word ' * 6}."))
    assert word.startswith("“the wall” in “Look at the wall. One")
    assert word.endswith("better: the projector")
    assert length.startswith("18 words where 15 are allowed: One more word")
    assert list(problems(Text("docstring", "pages/a.py", 3, "Whether it runs."))) == [
        "“Whether it runs.”; better: a noun, or a verb such as Return"
    ]
