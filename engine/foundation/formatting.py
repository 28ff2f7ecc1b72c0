from collections.abc import Sequence


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def in_digits(number: float) -> str:
    """A positive number with three digits, from a thousand to a million with all before its point: "0.125", "73.7",
    "1,834"."""
    return f"{number:,.0f}" if 999.5 <= number < 1e6 else f"{number:.3g}"


def listed(words: Sequence[str], joint: str = "and") -> str:
    """Words in a row: "a", "a and b", "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} {joint} {last}" if first else last


def in_bytes(count: float | None) -> str:
    if count is None:
        return "measured only"
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" or size >= 100 else f"{size:.3g} {units[0]}"


def in_time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def in_fine_time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}" if seconds >= 100 * size else f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def quoted_with_article(name: str) -> str:
    """A symbol or a token: a “3”, an “8”, an “apple”."""
    spoken_with_vowel = name[:1].lower() in "8aeio" or name in ("11", "18")
    return f"{'an' if name and spoken_with_vowel else 'a'} “{name}”"


def percent(share: float) -> str:
    """A share in words: "64 %"."""
    # never round to all what is not all
    if 0.985 <= share < 1:
        return f"{min(100 * share, 99.9):.1f} %"
    return f"{100 * share:.0f} %"


def fine_percent(share: float) -> str:
    """A share that may be small: "12.3 %", "< 0.1 %"."""
    if share and share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share else "0 %"
