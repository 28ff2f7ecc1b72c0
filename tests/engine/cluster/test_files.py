"""Files travel in pieces, arrive whole, and never outside of the folder they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cluster.codec import PIECE, Chunk, chunks_of, needed_by, write_chunk
from engine.config.run_config import RunConfig, parse


@pytest.mark.parametrize("size", [0, 1, PIECE, 2 * PIECE + 5])
def test_a_file_arrives_as_it_was(tmp_path: Path, size: int) -> None:
    source, there = tmp_path / "weights.bin", tmp_path / "there"
    source.write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    there.mkdir()
    chunks = list(chunks_of(source, "runs/a/weights.bin"))
    for chunk in chunks[:-1]:
        write_chunk(there, chunk)
    arrived = there / "runs" / "a" / "weights.bin"
    assert not arrived.exists(), "nobody reads half of a file"
    write_chunk(there, chunks[-1])
    assert arrived.read_bytes() == source.read_bytes()
    assert [file for file in arrived.parent.iterdir() if file != arrived] == []


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "runs/../../outside"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(ValueError, match="no file of the data folder"):
        write_chunk(folder, Chunk(name, b"x", first=True, last=True))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_is_larger_than_allowed_is_refused(tmp_path: Path) -> None:
    write_chunk(tmp_path, Chunk("a", b"12", first=True, last=False), largest=3)
    with pytest.raises(ValueError, match="more than 3 bytes"):
        write_chunk(tmp_path, Chunk("a", b"34", first=False, last=True), largest=3)
    assert not (tmp_path / "a").exists()
    write_chunk(tmp_path, Chunk("a", b"123", first=True, last=True), largest=3)
    assert (tmp_path / "a").read_bytes() == b"123"


def test_a_run_needs_a_text_of_ones_own(tmp_path: Path) -> None:
    name = "0123456789abcdef" * 2
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / f"{name}.txt").write_text("some text")
    assert needed_by(RunConfig(), tmp_path) == []
    assert needed_by(parse({"task": "shakespeare_chars"}), tmp_path) == []
    assert needed_by(parse({"task": "shakespeare_chars", "text": name}), tmp_path) == [Path("texts") / f"{name}.txt"]
