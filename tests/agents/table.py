"""What was seen of each agent in each situation, as a table."""

from typing import NamedTuple


class Row(NamedTuple):
    """One agent in one situation."""

    agent: str
    situation: str
    verdict: str
    seconds: float | None
    right: bool


class Table:
    """Rows in the order in which they were seen."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(
        self, agent: str, situation: str, verdict: str, seconds: float | None = None, *, right: bool = True
    ) -> None:
        """One more row."""
        self.rows.append(Row(agent, situation, verdict, seconds, right))

    def text(self) -> str:
        """The table, with a line for each row."""
        head = Row("agent", "situation", "verdict", None, True)
        widths = [max(len(str(row[column])) for row in (head, *self.rows)) for column in range(3)]
        lines = [_line(head, widths, "latency"), ""]
        for row in self.rows:
            latency = "" if row.seconds is None else f"{row.seconds * 1000:.0f} ms"
            lines.append(_line(row, widths, latency) + ("" if row.right else "  WRONG"))
        return "\n".join(lines) + "\n"


def _line(row: Row, widths: list[int], latency: str) -> str:
    cells = (str(cell).ljust(width) for cell, width in zip(row[:3], widths, strict=True))
    return f"{'  '.join(cells)}  {latency.rjust(9)}"
