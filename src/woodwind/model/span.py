"""Spans of time as people write them: 90s, 30m, 2h, 1d."""

import re

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"(?:\d+[smhd]\s*)+")
WANTED = 'a span of time such as "90s", "30m" or "2h30m"'


def parse_span(text: str) -> int | None:
    """The seconds that `text` means, 0 for "0"; None when it is no span of time."""
    words = text.strip().lower()
    if words == "0":
        return 0
    if not _SPAN.fullmatch(words):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([smhd])", words))
