import hashlib
import unicodedata
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.config.run_config import parse
from engine.foundation.visitor import Visitor
from engine.settings.errors import ConfigError
from engine.tasks.text import plays, user_texts
from engine.tasks.text.encoded import encoded, read_text
from engine.tasks.text.kneser_ney import FALLBACK, Discounts, estimated, kneser_ney
from engine.tasks.text.tokens import (
    UNKNOWN_NAME,
    Unit,
    has_pieces,
    is_word,
    joined,
    name_of,
    normalised,
    pieces,
    unknown_beside,
    vocabulary_of,
)
from engine.training.data import Data
from tests.engine.at_once import at_once

pytestmark = pytest.mark.usefixtures("own_data_folder")
UNITS: tuple[Unit, ...] = ("characters", "words")
TEXT = "To be, or not to be:\nthat is the question."


@pytest.mark.parametrize("text", [TEXT, " begins and ends with a space ", "two  spaces", "", " ", "-- dash --\n\nO!"])
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_pieces_joined_are_the_text(text: str, unit: Unit) -> None:
    assert joined(pieces(text, unit), unit) == text


def test_words_are_split_at_their_boundaries_and_told_from_what_stands_between() -> None:
    assert pieces("To be, or  not", "words") == ["To", "be", ", ", "or", "  ", "not"]
    assert [piece for piece in pieces(TEXT, "words") if not is_word(piece)] == [", ", ":\n", "."]


@settings(deadline=None, max_examples=200)
@given(
    st.text(
        st.characters(exclude_categories=()) | st.sampled_from(" \n'a\u0301\u093f\u200d\u200c\u200b\xad\u200f\ufe0f👩")
    )
)
@example("\u0301 \u200d a \u0301b\u200d c\ud800 ")
def test_pieces_joined_are_any_text_of_all_of_unicode(text: str) -> None:
    for unit in UNITS:
        parts = pieces(text, unit)
        assert joined(parts, unit) == text
        assert all(part and name_of(part) for part in parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("नदी के किनारे, वहाँ", ["नदी", "के", "किनारे", "वहाँ"]),
        ("สวัสดี ครับ ผมชื่อ", ["สวัสดี", "ครับ", "ผมชื่อ"]),
        ("الْحَمْدُ لِلَّهِ", ["الْحَمْدُ", "لِلَّهِ"]),
        ("בְּרֵאשִׁית בָּרָא", ["בְּרֵאשִׁית", "בָּרָא"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),  # Persian parts a prefix without a blank
        ("ක්\u200dරී ලංකා", ["ක්\u200dරී", "ලංකා"]),  # Sinhala joins letters
        ("ខ្ញុំ\u200bអ្នក", ["ខ្ញុំ", "អ្នក"]),  # Khmer parts words by a space without width
        ("Donau\xaddampf, cafe\u0301s", ["Donau\xaddampf", "cafe\u0301s"]),
        ("שלום\u200f, עולם", ["שלום\u200f", "עולם"]),
        ("१२३ ٤٥ 1\ufe0f\u20e3", ["१२३", "٤٥", "1\ufe0f\u20e3"]),
        ("don't o'er", ["don", "t", "o", "er"]),
    ],
)
def test_a_word_keeps_its_marks_and_joiners(text: str, words: list[str]) -> None:
    assert [piece for piece in pieces(text, "words") if is_word(piece)] == words


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("a 👨\u200d👩\u200d👧!", ["a", " ", "👨\u200d👩\u200d👧", "!"]),  # a family is one picture
        ("👩🏽\u200d🚀👍🏿", ["👩🏽\u200d🚀", "👍🏿"]),  # with a tone of skin
        ("❤\ufe0f\u200d🔥1\ufe0f\u20e3", ["❤\ufe0f\u200d🔥", "1\ufe0f\u20e3"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("🏴\U000e0067\U000e0062\U000e007f.", ["🏴\U000e0067\U000e0062\U000e007f", "."]),
        ("שִׁיר\u200f (abc)", ["שִׁ", "י", "ר", "\u200f", *" (abc)"]),  # two directions
        ("हिंदी", ["हिं", "दी"]),
        ("x\u0323\u0302y", ["x\u0323\u0302", "y"]),
        ("می\u200cخو", ["م", "ی\u200c", "خ", "و"]),
        ('id,"a;b"\n7,ö', [*'id,"a;b"', "\n", *"7,ö"]),  # comma-separated values
    ],
)
def test_a_character_is_what_a_reader_sees_as_one(text: str, characters: list[str]) -> None:
    assert list(pieces(normalised(text), "characters")) == characters
    assert joined(pieces(text, "characters"), "characters") == text
    assert has_pieces(text, "characters", len(characters))
    assert not has_pieces(text, "characters", len(characters) + 1)


def test_a_picture_of_joined_signs_is_one_token_of_the_model_and_is_written_whole() -> None:
    text = "".join(f"{n} 👩\u200d🚀 meets 👩 and 🚀.\n" for n in range(60))
    trained = encoded(user_texts.keep(text.encode()), 1, "characters", 80)
    read = read_text(trained, "meets 👩\u200d🚀 or 👨\u200d🚀")
    assert read.unknown == ["o", "r", "👨\u200d🚀"]
    assert "👩\u200d🚀" in trained.vocabulary.numbers
    assert "\u200d" not in trained.vocabulary.numbers, "no model learns to write half a picture"


def test_comma_separated_values_are_numbers_and_what_stands_between_and_come_back_whole() -> None:
    table = 'name,"size, cm",n\n' + "".join(f'"O\'Neil, {n}",{n}.5,{n % 7}\n' for n in range(80))
    assert pieces("7,12.5\n8,,x", "words") == ["7", ",", "12", ".", "5", "\n", "8", ",,", "x"]
    for unit in UNITS:
        trained = encoded(user_texts.keep(table.encode()), 1, unit, 200)
        read = read_text(trained, "O'Neil, 3\",3.5,")
        assert (read.text, read.unknown) == ("O'Neil, 3\",3.5,", [])


def test_a_picture_of_joined_signs_is_one_piece_and_what_cannot_be_seen_is_named_by_its_number() -> None:
    family = "👨\u200d👩\u200d👧"
    assert pieces(f"we {family} all", "words") == ["we", f" {family} ", "all"]
    assert list(map(name_of, ("\xa0", "\u200b", "\x1b", "\n", "می\u200cخ"))) == [
        "U+00A0",
        "U+200B",
        "U+001B",
        "↵",
        "می\u200cخ",
    ]


def test_the_words_of_the_plays_are_those_of_all_stored_results() -> None:
    digest, count = hashlib.sha256(), 0
    for name in plays.members():
        parts = pieces(plays.read(name), "words")
        digest.update("\0".join(parts).encode())
        count += len(parts)
    assert count == 1_199_466
    assert digest.hexdigest() == "048c4288536fba9a644922902dd7169d33449992fc17db683008acbe94d57ad6"


def test_the_commonest_are_numbered_the_same_every_time_with_visible_names() -> None:
    vocabulary = vocabulary_of([list("aabbbc")], 3)
    assert vocabulary.numbers == {"b": 1, "a": 2}
    assert vocabulary.encode("abcz").tolist() == [2, 1, 0, 0]
    assert vocabulary.names(5) == (UNKNOWN_NAME, "b", "a", UNKNOWN_NAME, UNKNOWN_NAME)
    assert vocabulary_of(["ba", "ab"], 10).numbers == vocabulary_of(["ab", "ba"], 10).numbers
    assert vocabulary_of([[" ", "a", ",\n"]], 4).names(4) == (UNKNOWN_NAME, "␣", ",↵", "a")


def test_the_share_of_unknown_tokens_stands_beside_a_number_where_there_are_any() -> None:
    assert [unknown_beside(share) for share in (0.0, 0.0004, 0.003, 0.41)] == [
        "", "< 0.1 % unknown", "0.3 % unknown", "41.0 % unknown",
    ]  # fmt: skip


def test_no_play_is_on_both_sides_and_they_are_those_of_all_stored_results() -> None:
    trained = plays.trained_plays(99)
    assert len(set(trained)) == 34
    assert set(trained) | set(plays.HELD_OUT) == set(plays.members())
    assert set(trained).isdisjoint(plays.HELD_OUT)
    assert plays.trained_plays(2) == trained[:2]

    digest = hashlib.sha256()
    for name in plays.members():
        digest.update(name.encode() + plays.read(name).encode())
    assert digest.hexdigest() == "ddad2c7821ae39269d478a14039253cdc9f3d6b8541be948f0b64b3418792b67"

    text = plays.read("macbeth")
    assert text.startswith("Macbeth\n\nACT I\n")
    assert "When shall we three meet again\nIn thunder" in text
    assert not any(mark in text for mark in ("**", "_", "## "))


@pytest.mark.parametrize("task", ["shakespeare_chars", "shakespeare_words"])
def test_held_out_windows_are_of_other_plays(task: str) -> None:
    config = parse({"task": task, "plays": 1, "vocab_size": 300, "seq_len": 24})
    data = Data(config)
    names = data.corpus.names if data.corpus is not None else ()
    held_out = " ".join(plays.read(name) for name in plays.HELD_OUT)
    row = data.validation_batch().inputs[0].tolist()
    parts = [names[token].replace("␣", " ").replace("↵", "\n") for token in row]
    unit: Unit = "characters" if task == "shakespeare_chars" else "words"
    runs = [list(run) for known, run in groupby(parts, key=lambda part: part != UNKNOWN_NAME) if known]
    assert joined(max(runs, key=len), unit) in held_out


USER_TEXT = "Wörter, and more words.\n" * 60


def test_a_text_comes_back_by_its_name() -> None:
    name = user_texts.keep(USER_TEXT.encode())
    assert user_texts.read(name) == USER_TEXT
    assert user_texts.keep(USER_TEXT.replace("\n", "\r\n").encode("utf-8-sig")) == name
    assert parse({"task": "shakespeare_chars", "text": name}).value("text") == name


@pytest.mark.parametrize("end", ["\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_every_systems_line_end_is_one(end: str) -> None:
    assert user_texts.read(user_texts.keep(USER_TEXT.replace("\n", end).encode())) == USER_TEXT
    assert user_texts.read(user_texts.keep(f"{end}{end}{USER_TEXT}".encode())) == f"\n\n{USER_TEXT}"


def test_one_letter_in_two_forms_is_one_token_in_text_and_prompt() -> None:
    apart = unicodedata.normalize("NFD", USER_TEXT)
    assert apart != USER_TEXT
    name = user_texts.keep(apart.encode())
    assert user_texts.read(name) == USER_TEXT
    read = read_text(encoded(name, 1, "words", 50), f"{apart.split()[0]}\rand")
    assert (read.text, read.unknown) == ("Wörter,\nand", [",\n"])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"x" * 1_000_001, "at most 1,000,000 bytes"),
        (b"\xff\xfe" + b"x" * 2000, "not UTF-8"),
        (b"x" * 1500 + b"\0", "null character"),
        (b"too short", "at least 1,000"),
        ("\u0958".encode() * 333_000, "1,998,000 bytes in Unicode's form C; the limit is 1,000,000"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence(content: bytes, sentence: str, own_data_folder: Path) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        user_texts.keep(content)
    assert "\n" not in str(caught.value)
    assert not (own_data_folder / "texts").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a" * 31, "A" * 32, "shakespeare.md", ""])
def test_a_link_reads_no_file_of_the_host(name: str) -> None:
    with pytest.raises(ValueError, match="text is"):
        user_texts.read(name)
    with pytest.raises(ConfigError) as caught:
        parse({"task": "shakespeare_words", "text": name})
    assert caught.value.problems[0].setting == "text"


def test_unknown_names_missing_files_and_a_text_that_changed_are_said(own_data_folder: Path) -> None:
    with pytest.raises(ValueError, match="no text of that name"):
        user_texts.read("0" * 32)
    with pytest.raises(ValueError, match="cannot be read"):
        user_texts.keep_file(own_data_folder / "none.txt")

    name = user_texts.keep(USER_TEXT.encode())
    (own_data_folder / "texts" / f"{name}.txt").write_text("something else")
    with pytest.raises(ValueError, match="has changed"):
        user_texts.read(name)


def test_a_visitor_keeps_so_many_texts_and_all_so_many(own_data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bens = user_texts.keep(USER_TEXT.encode(), Visitor("ben"), most=2)
    annas = [user_texts.keep(f"{number} {USER_TEXT}".encode(), Visitor("anna"), most=2) for number in range(4)]
    assert len(list((own_data_folder / "texts").glob("*.txt"))) == 3
    for name in (bens, *annas[2:]):
        assert USER_TEXT in user_texts.read(name)
    with pytest.raises(ValueError, match="no text of that name"):
        user_texts.read(annas[0])

    monkeypatch.setattr(user_texts, "MAX_TEXTS", 2)
    last = user_texts.keep(f"last {USER_TEXT}".encode())
    assert len(list((own_data_folder / "texts").glob("*.txt"))) == 2
    assert user_texts.read(last).startswith("last ")


@pytest.mark.parametrize("same", [False, True])
def test_thirty_give_a_text_at_once_and_each_may_train_on_it(same: bool, own_data_folder: Path) -> None:
    def give(number: int) -> str:
        text = USER_TEXT if same else f"{number} {USER_TEXT}"
        name = user_texts.keep(text.encode(), Visitor(f"visitor {number}", "10.0.0.1"), most=3)
        assert user_texts.read(name) == text
        return name

    given = set(at_once(give))
    assert len(given) == (1 if same else 30)
    assert {file.stem for file in (own_data_folder / "texts").glob("*.txt")} == given


SIZE = 12


@pytest.fixture(scope="module")
def texts() -> list[np.ndarray]:
    """Two texts in which some tokens are common and one never occurs."""
    draw = np.random.default_rng(0)
    common = np.linspace(3, 0, SIZE) / np.linspace(3, 0, SIZE).sum()
    return [draw.choice(SIZE, size=n, p=common) for n in (400, 150)]


def slowly(texts: list[np.ndarray], order: int, given: list[Discounts] | None, context: list[int], word: int) -> float:
    """P(word | context), gram by gram as Chen and Goodman 1998 write it (section 3, equations 20 to 26)."""
    counts: dict[int, Counter[tuple[int, ...]]] = {n: Counter() for n in range(1, order + 1)}
    for text in texts:
        tokens = text.tolist()
        counts[order].update(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))
    for n in range(order - 1, 0, -1):
        counts[n] = Counter(gram[1:] for gram in counts[n + 1])  # in how many contexts

    def chance(history: tuple[int, ...]) -> float:
        n = len(history) + 1
        lower = chance(history[1:]) if history else 1 / SIZE
        following = {gram: count for gram, count in counts[n].items() if gram[:-1] == history}
        if not following:
            return lower
        discounts = given[n - 1] if given else estimated(np.array(list(counts[n].values())))
        discount = {count: discounts[min(count, 3) - 1] for count in following.values()}
        total = sum(following.values())
        backed_off = sum(discount[count] for count in following.values()) / total
        count = following.get((*history, word), 0)
        return (max(count - discount[count], 0) / total if count else 0.0) + backed_off * lower

    return chance(tuple(context[len(context) - order + 1 :]))


@pytest.mark.parametrize("given", [None, [(0.0, 0.0, 0.0), (0.5, 0.9, 1.2), (0.75, 0.75, 0.75)]])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_definition(texts: list[np.ndarray], order: int, given: list[Discounts] | None) -> None:
    model = kneser_ney(texts, SIZE, order, given)
    draw = np.random.default_rng(1)
    contexts, words = draw.integers(0, SIZE, (60, order - 1)), draw.integers(0, SIZE, 60)
    slow = [slowly(texts, order, given, row, word) for row, word in zip(contexts.tolist(), words.tolist(), strict=True)]
    np.testing.assert_allclose(model.probabilities(contexts, words), slow, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_after_any_context_sum_to_one(texts: list[np.ndarray], order: int) -> None:
    model = kneser_ney(texts, SIZE, order)
    for context in np.random.default_rng(2).integers(-1, SIZE, (40, order - 1)):
        chances = model.probabilities(np.tile(context, (SIZE, 1)), np.arange(SIZE))
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        assert (chances > 0).all(), "also of a token that never occurred"


def test_a_text_is_scored_token_by_token_from_its_beginning(texts: list[np.ndarray]) -> None:
    model, text = kneser_ney(texts, SIZE, 3), texts[1][:20]
    padded = np.concatenate([[-1, -1], text])
    alone = [model.probabilities(padded[None, at : at + 2], text[None, at])[0] for at in range(len(text))]
    np.testing.assert_allclose(model.nats(text), -np.log(alone))
    assert model.nats(text)[0] == pytest.approx(kneser_ney(texts, SIZE, 3).nats(text[:1])[0])


def test_discounts_fall_back_where_too_little_occurs_and_a_text_may_be_shorter_than_its_grams() -> None:
    assert estimated(np.array([5, 7, 9])) == FALLBACK
    d1, d2, d3 = estimated(np.array([1] * 60 + [2] * 25 + [3] * 12 + [4] * 8))
    assert 0 < d1 < d2 < d3 < 3

    short = kneser_ney([np.array([1])], 3, 3)
    assert short.probabilities(np.array([[0, 1]]), np.array([1]))[0] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="too many grams"):
        kneser_ney([np.array([1])], 2**22, 3)
