"""A card to share: one sentence, a picture of before and after, and the link as a QR code; a PNG, or a GIF where it moves.

A card is always light, since it leaves the app for other programs. Its size is the one that programs show whole beside a link.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from html import escape
from pathlib import Path

import streamlit as st
from PIL import Image, ImageDraw, ImageFont

from pages.parts.app.setting_widget import offer_file
from pages.parts.charts.colors import INK, MUTED, SURFACE
from pages.parts.stage.qr import modules_of

WIDTH, HEIGHT, EDGE = 1200, 630, 48
QR = 200
RIGHT = WIDTH - 2 * EDGE - QR
"""The right end of the picture, beside the QR code."""
TITLE, LETTERS, FOOT = (52, 46, 40, 34), 26, 22
"""Sizes of letters in pixels: of the sentence, the largest with which it takes two lines; of the picture; of the foot."""
RIGHT_ANSWER, WRONG_ANSWER = "#1B7F4B", "#C6313B"
FOLDER = Path(st.__file__).parent / "static" / "static" / "media"
"""Streamlit brings the letters of the pages along."""


@dataclass(frozen=True)
class Bar:
    """A number as a bar."""

    name: str
    length: float
    """From 0 to 1."""
    words: str
    color: str


@dataclass(frozen=True)
class Written:
    """What a model has written, symbol by symbol; "" where no answer is asked."""

    name: str
    symbols: Sequence[str]
    right: Sequence[bool | None]

    @property
    def asked(self) -> list[tuple[str, bool]]:
        """The answers."""
        return [(one, mark) for one, mark in zip(self.symbols, self.right, strict=True) if mark is not None]


@dataclass(frozen=True)
class Card:
    sentence: str
    rows: tuple[Bar | Written, ...]
    link: str
    foot: str
    film: tuple[Written, ...] = ()
    """The rows of the moving card, one after another; empty for a card that stands still."""


@lru_cache(64)
def font(size: int, style: str = "Regular") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    for file in FOLDER.glob("SourceSansVF-Upright*.woff2"):
        try:
            found = ImageFont.truetype(file, size)
            found.set_variation_by_name(style)
        except OSError:  # this Pillow cannot read it
            continue
        return found
    return ImageFont.load_default(size)


def png(card: Card) -> bytes:
    picture, top = _around(card)
    _draw_rows(picture, card.rows, top)
    return _saved(picture, "PNG")


def gif(card: Card) -> bytes:
    """The film of the card, four seconds long; its last two pictures stay longer."""
    around, top = _around(card)
    frames = [around.copy() for _ in card.film]
    for picture, row in zip(frames, card.film, strict=True):
        _draw_rows(picture, (row,), top)
    times = [4000 // len(frames)] * len(frames)
    times[-2:] = [2000] * len(times[-2:])
    first, *others = (picture.quantize(32, Image.Quantize.FASTOCTREE) for picture in frames)
    return _saved(first, "GIF", save_all=True, append_images=others, duration=times, loop=0)


def show_card(card: Card, name: str) -> None:
    """The card, and what it can be saved as. ``name``: of the file."""
    drawing = b64encode(png(card)).decode()
    st.html(f'<img src="data:image/png;base64,{drawing}" alt="{escape(card.sentence)}" style="width: 100%">')
    with st.container(horizontal=True):
        offer_file("Card (PNG)", partial(png, card), f"{name}.png", ":material/image:")
        if card.film:
            offer_file("Moving card (GIF)", partial(gif, card), f"{name}.gif", ":material/animated_images:")


def _around(card: Card) -> tuple[Image.Image, float]:
    """The card without its rows, and the upper edge of the room for them."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), SURFACE["light"])
    draw = ImageDraw.Draw(picture)
    tried = ((size, _lines(card.sentence, size)) for size in TITLE)
    size, lines = next((size, lines) for size, lines in tried if len(lines) < 3 or size == TITLE[-1])
    for place, line in enumerate(lines):
        draw.text((EDGE, EDGE - 10 + place * 1.2 * size), line, INK["light"], font(size, "Semibold"))
    draw.text((EDGE, HEIGHT - EDGE - FOOT / 2), card.foot, MUTED["light"], font(FOOT))
    _paste_code(picture, card.link)
    return picture, EDGE + 20 + 1.2 * size * len(lines)


def _draw_rows(picture: Image.Image, rows: Sequence[Bar | Written], top: float) -> None:
    draw, high = ImageDraw.Draw(picture), min(120.0, (HEIGHT - EDGE - 2 * FOOT - top) / max(1, len(rows)))
    for place, row in enumerate(rows):
        if isinstance(row, Bar):
            _bar(draw, row, top + place * high, high)
        else:
            _symbols(draw, row, top + place * high, high)


def _saved(picture: Image.Image, kind: str, **more: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **more)
    return file.getvalue()


def _lines(text: str, size: int) -> list[str]:
    """The text in lines that fit the card."""
    letters, lines = font(size, "Semibold"), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if letters.getlength(longer) <= WIDTH - 2 * EDGE:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _bar(draw: ImageDraw.ImageDraw, row: Bar, top: float, high: float) -> None:
    letters = font(int(min(LETTERS, 0.4 * high)))
    draw.text((EDGE, top), row.name, MUTED["light"], letters)
    wide = (RIGHT - EDGE - 130) * row.length
    box = (EDGE, top + 0.5 * high, EDGE + max(3, wide), top + 0.86 * high)
    draw.rounded_rectangle(box, 4, row.color)
    draw.text((box[2] + 12, (box[1] + box[3]) / 2), row.words, INK["light"], font(LETTERS, "Semibold"), "lm")


def _symbols(draw: ImageDraw.ImageDraw, row: Written, top: float, high: float) -> None:
    letters = font(int(min(LETTERS, 0.3 * high)))
    right = sum(mark for _, mark in row.asked)
    draw.text((EDGE, top), f"{row.name}: {right} of {len(row.asked)} right", MUTED["light"], letters)
    side = min(0.6 * high, (RIGHT - EDGE) / max(1, len(row.asked)))
    for place, (symbol, mark) in enumerate(row.asked):
        x, y = EDGE + place * side, top + 0.36 * high
        draw.rounded_rectangle((x, y, x + 0.92 * side, y + 0.92 * side), 6, RIGHT_ANSWER if mark else WRONG_ANSWER)
        if side >= 14:
            letters = font(int(0.55 * side / max(1, 0.7 * len(symbol))))
            draw.text((x + 0.46 * side, y + 0.46 * side), symbol, SURFACE["light"], letters, "mm")


def _paste_code(picture: Image.Image, link: str) -> None:
    """The link as a QR code in the lower right corner; nothing where it is too long for one."""
    if (code := modules_of(link)) is not None:
        file = io.BytesIO()
        code.save(file, "png", border=0, dark=INK["light"], light=SURFACE["light"])
        drawing = Image.open(file).convert("RGB").resize((QR, QR), Image.Resampling.NEAREST)
        picture.paste(drawing, (WIDTH - EDGE - QR, HEIGHT - EDGE - QR))
