"""Numbers on the command line, with errors that say which ones an option takes.

They are given to `add_argument` as its type. No import of argparse: see cli/plain.py.
"""

from collections.abc import Callable

from woodwind.model.errors import UsageError


def whole(option: str, least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number, not below `least` nor above `most`."""
    wanted = f"{least} or more" if most is None else f"from {least} to {most}"

    def read(word: str) -> int:
        if word.isdecimal() and len(word) < 19 and least <= int(word) and (most is None or int(word) <= most):
            return int(word)
        raise UsageError(f"{option} must be {wanted}, found {word:.40}")

    return read


def seconds(option: str) -> Callable[[str], float]:
    """A span of time: seconds, or as people write it (90s, 30m, 2h30m)."""

    def read(word: str) -> float:
        from woodwind.model.span import parse_span  # and with it `re`, only where such an option is given

        try:
            value = float(word)
        except ValueError:
            span = parse_span(word)
            value = -1 if span is None else span
        if not 0 <= value < 1e9:
            raise UsageError(f"{option} must be seconds, or a span of time such as 90s, 30m or 2h30m, found {word:.40}")
        return value

    return read
