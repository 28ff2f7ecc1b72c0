"""Values and files arrive as they were: nothing else is made of bytes, and nothing is written outside of the folder for them."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cluster.codec import OBJECT, PIECE, Chunk, Unreadable, chunks_of, decode, encode, needed_by, write_chunk
from engine.config.run_config import RunConfig, parse
from engine.runs.events import Progress, Sample, Snapshot, Started
from engine.settings.costs import Memory
from engine.workers import protocol

NUMBERS = st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
PLAIN = NUMBERS | st.none() | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(0, 99), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(VALUES)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "uint8", "complex64", "<U3"])
def test_arrays_come_back_bit_for_bit(dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).T.astype(dtype)
    back = decode(encode({"a": array, "empty": array[:0], "one": array[1, 1]}))
    assert back["a"].dtype == array.dtype
    assert back["a"].tobytes() == array.tobytes()
    assert back["empty"].shape == (0, 3)
    assert back["one"] == array[1, 1]
    assert type(back["one"]) is type(array[1, 1])
    back["a"][0, 0] = array[1, 1]  # it may be written to, as an array of one's own


def test_reports_come_back_facts_about_a_device_too_and_numbers_of_numpy_as_numbers() -> None:
    memory = Memory(8, 8, 16, None, 10)
    pattern = np.random.default_rng(0).random((1, 2, 3, 3), dtype=np.float32)
    events = [
        Started(10, memory, None, {"loss": 2.3}, 1.0, "cpu"),
        Progress(1, float("inf"), 0.5, 0.1, 1e4, validation={"loss": float("-inf")}),
        Snapshot(1, {"self": pattern}, {}, [Sample(["a"], [""], ["b"])]),
    ]
    update = protocol.RunUpdate("run", events, "paused")
    back = decode(encode(update))
    assert isinstance(back, protocol.RunUpdate)
    assert back.events[:2] == events[:2]
    assert back.events[2].patterns["self"].tobytes() == pattern.tobytes()
    assert back.events[2].samples == events[2].samples

    ready = protocol.Ready({"torch": "2.13", "accelerator": None, "accelerators": 0})
    assert decode(encode(ready)) == ready

    event = Progress(np.int64(3), np.float32(0.5), np.float64(0.25), 0.1, 1e4, {"loss": np.float32(2)})  # type: ignore[arg-type]
    assert decode(encode(event)) == Progress(3, 0.5, 0.25, 0.1, 1e4, {"loss": 2.0})


@dataclass
class Foreign:
    value: int


@pytest.mark.parametrize("value", [object(), Foreign(1), np.array([object()]), {1, 2}, print])
def test_what_is_no_plain_data_is_not_sent(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        encode(value)


def test_no_class_but_a_record_of_the_engine_is_made_and_no_nesting_without_end() -> None:
    for module, name in (("os", "system"), ("engine.cluster.codec", "decode"), ("engine.no", "Such")):
        body = msgpack.packb(msgpack.ExtType(OBJECT, msgpack.packb([module, name, {}])))
        with pytest.raises(Unreadable, match="no record"):
            decode(body)
    for body in (pickle.dumps(print), b"", b"\xc1", msgpack.packb(msgpack.ExtType(9, b"")), encode(1) * 2):
        with pytest.raises(Unreadable):
            decode(body)

    body = encode(0)
    for _ in range(200):
        body = msgpack.packb(msgpack.ExtType(3, msgpack.packb([0]) if not body else b"\x91" + body))
    with pytest.raises(Unreadable):
        decode(body)


@pytest.mark.parametrize(
    "value",
    [
        Snapshot("/tmp/elsewhere", {}, {}, []),  # type: ignore[arg-type]
        Snapshot(1, {"self": "no array"}, {}, []),  # type: ignore[dict-item]
        Progress([], 1.0, 0.5, 0.1, 1e4),  # type: ignore[arg-type]
        protocol.RunUpdate("run", ["no event"]),  # type: ignore[list-item]
        protocol.RunUpdate("run", [], "flying"),  # type: ignore[arg-type]
    ],
)
def test_a_record_whose_fields_are_not_what_they_should_be_is_not_made(value: Any) -> None:
    with pytest.raises(Unreadable):
        decode(encode(value))


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
