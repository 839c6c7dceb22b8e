"""Text from outside, made safe to store, to show and to put into names."""

import unicodedata
from collections.abc import Iterator

# Bidirectional overrides can make a line read as something that it is not.
_BIDI = {chr(c) for c in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def clean(text: str) -> str:
    """`text` without escape sequences, control and direction characters; line ends become \\n."""
    if text.isprintable():  # nothing of that is in it, as almost always
        return text
    out: list[str] = []
    chars = iter(text.replace("\r\n", "\n").replace("\r", "\n"))
    for ch in chars:
        if ch == "\x1b":
            _skip_escape(chars, out)
        elif ch in "\n\t" or not (unicodedata.category(ch) in ("Cc", "Cs") or ch in _BIDI):
            out.append(ch)
    return "".join(out)


def _skip_escape(it: Iterator[str], out: list[str]) -> None:
    """Consume one terminal escape sequence; an unfinished one ends with its line."""
    kind = next(it, "")
    if kind == "[":
        for ch in it:
            if "\x40" <= ch <= "\x7e":
                return
            if ch == "\n":
                out.append(ch)
                return
    elif kind in "]PX^_" and kind:
        previous = ""
        for ch in it:
            if ch == "\x07" or (previous == "\x1b" and ch == "\\"):
                return
            if ch == "\n":
                out.append(ch)
                return
            previous = ch
    elif kind == "\n":
        out.append(kind)


def one_line(text: str, limit: int = 120) -> str:
    """The first non-empty line of `text`, cleaned, at most `limit` characters."""
    for line in clean(text).split("\n"):
        words = " ".join(line.split())
        if words:
            return words if len(words) <= limit else words[: limit - 1] + "…"
    return ""


def width(text: str) -> int:
    """How many terminal columns `text` takes."""
    if text.isascii():
        return len(text)
    total = 0
    for ch in text:
        if unicodedata.combining(ch) or ch in "\u200b\u200d\ufe0e\ufe0f":
            continue
        total += 2 if unicodedata.east_asian_width(ch) in "WF" else 1
    return total


def fit(text: str, columns: int) -> str:
    """`text` cut with an ellipsis to at most `columns` terminal columns."""
    if width(text) <= columns:
        return text
    out, used = [], 0
    for ch in text:
        w = width(ch)
        if used + w > columns - 1:
            break
        out.append(ch)
        used += w
    return "".join(out) + "…"
