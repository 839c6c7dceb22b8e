"""Where things stand in a TOML text: the lines of its tables and keys, which the standard parser does not tell."""

import re

_TABLE = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:=|\.)""")
_QUOTES = ('"""', "'''")


class Lines:
    """Line numbers by table name, its number among tables of that name, and key ("" for the table's own line)."""

    def __init__(self, text: str) -> None:
        self._found: dict[tuple[str, int, str], int] = {}
        counts: dict[str, int] = {}
        table, index, inside, depth = "", 0, "", 0
        for number, line in enumerate(text.splitlines(), 1):
            if inside:  # a text over several lines: nothing in it is a key
                if inside in line:
                    inside = _open_text(line.partition(inside)[2])
                continue
            if depth == 0:
                header = _TABLE.match(line)
                if header:
                    table = header[2].strip("\"'")
                    index = counts[table] = counts.get(table, -1) + 1
                    self._found[table, index, ""] = number
                    continue
                named = _KEY.match(line)
                if named:
                    self._found.setdefault((table, index, named[1] or named[2] or named[3]), number)
            inside = _open_text(line)
            depth = max(0, depth + _brackets(line))

    def of(self, table: str, index: int = 0, key: str = "") -> int:
        """The line of a key, else of its table, else 1."""
        return self._found.get((table, index, key)) or self._found.get((table, index, "")) or 1


def _open_text(line: str) -> str:
    """The quotes of a text that begins in this line and does not end in it, or ""."""
    rest = _without_comment(line)
    while True:
        begins = [(rest.find(q), q) for q in _QUOTES if q in rest]
        if not begins:
            return ""
        at, quotes = min(begins)
        rest = rest[at + 3 :]
        if quotes not in rest:
            return quotes
        rest = rest.partition(quotes)[2]


def _without_comment(line: str) -> str:
    """The line up to a # that is in no text."""
    quote = ""
    for at, ch in enumerate(line):
        if quote:
            quote = "" if ch == quote and line[at - 1] != "\\" else quote
        elif ch in "\"'":
            quote = ch
        elif ch == "#":
            return line[:at]
    return line


def _brackets(line: str) -> int:
    """By how much a line goes deeper into lists, not counting what is in texts."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"|\'[^\']*\'', "", _without_comment(line))
    return bare.count("[") - bare.count("]")
