"""The time, and ids that are never used twice."""

import os
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


def now() -> datetime:
    """The time now, aware, in whole milliseconds as the store keeps it."""
    return from_ms(to_ms(datetime.now(UTC)))


def days_ago(days: int) -> datetime:
    """The time that many days before now; the beginning of time where the calendar does not reach so far back."""
    try:
        return now() - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def to_ms(at: datetime) -> int:
    """Milliseconds since 1970 for an aware time."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """The aware time for milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=ms)


def new_id(kind: str) -> str:
    """A fresh id such as `w4k9x2m7qhtb`: a letter for its kind and 60 random bits."""
    return kind + "".join(_ALPHABET[b & 31] for b in os.urandom(12))


def id_for(kind: str, *words: str) -> str:
    """The id that these words always give, in the form of `new_id`."""
    import hashlib  # 2 ms, and most commands make ids that are new

    digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).digest()
    return kind + "".join(_ALPHABET[b & 31] for b in digest[:12])


def new_uuid() -> str:
    """A random UUID (version 4); the uuid module would cost every `ww new` 5 ms."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
