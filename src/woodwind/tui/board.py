"""The list of rows with its section heads, painted line by line so that a change costs only the lines it is about."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from woodwind.model.sections import Row, Section, Verb
from woodwind.model.text import fit, width
from woodwind.tui.ages import age

MARKS = {
    Section.NEEDS_YOU: "!",
    Section.READY_TO_SHIP: "✓",
    Section.IN_FLIGHT: "●",
    Section.BACKGROUND: "·",
}
_NAME, _STATE, _AGE = 25, 10, 5  # at most, of a name; at least, of a state
_WIDE, _WIDE_ENOUGH_FOR_VERBS, _NARROW = 100, 76, 70
_NAME_WHERE_NOT_WIDE, _NAME_WHERE_NARROW = 18, 14
# So many painted lines are kept, because most rows only move; of 500 workers, that is each one a few times.
_KEPT = 2000


class Board(ScrollView, can_focus=True):
    """All rows in their sections. A selection holds on to its row, wherever that goes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "board--needs-you",
        "board--ready-to-ship",
        "board--in-flight",
        "board--background",
        "board--dim",
        "board--name",
        "board--verb",
        "board--selected",
    }
    DEFAULT_CSS = """
    Board { background: $background; overflow-x: hidden; }
    Board > .board--needs-you { color: $text-warning; text-style: bold; }
    Board > .board--ready-to-ship { color: $text-success; text-style: bold; }
    Board > .board--in-flight { color: $text-primary; text-style: bold; }
    Board > .board--background { color: $text-muted; text-style: bold; }
    Board > .board--dim { color: $text-muted; }
    Board > .board--name { text-style: bold; }
    Board > .board--verb { color: $text-primary; text-style: underline; }
    Board > .board--selected { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "move_page(-1)", show=False),
        Binding("pagedown", "move_page(1)", show=False),
        Binding("home,g", "move(-100000)", show=False),
        Binding("end,G", "move(100000)", show=False),
    ]

    class Selected(Message):
        """Another row is selected; None where there is none."""

        def __init__(self, row: Row | None) -> None:
            super().__init__()
            self.row = row

    class Wanted(Message):
        """A person wants something done with a row."""

        def __init__(self, row: Row, verb: Verb) -> None:
            super().__init__()
            self.row = row
            self.verb = verb

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Row | _Head | None] = []
        self._place: dict[str, int] = {}  # the line of each row, by its key
        self._acting: Mapping[str, str] = {}
        self._now = 0.0
        self._key = ""
        self._rooms = _Rooms(0, 0, 0, 0)
        self._painted: dict[tuple[object, ...], Strip] = {}  # by all that a line depends on, but for the styles
        self._plain = Style()  # what there is without a class

    # What is shown

    def show(self, rows: Sequence[Row], now: float, acting: Mapping[str, str]) -> None:
        """Paint these rows; `acting` says what is being done with some of them. Only lines that differ are painted."""
        before, self._lines = self._lines, _lines(rows)
        rooms_before, self._rooms = self._rooms, _rooms(rows)
        old_line = self._place.get(self._key)
        ages_differ = int(now // 30) != int(self._now // 30)
        changed = {key for key in {*acting, *self._acting} if acting.get(key) != self._acting.get(key)}
        self._now, self._acting = now, dict(acting)
        self._place = {line.key: n for n, line in enumerate(self._lines) if isinstance(line, Row)}
        size = Size(self._columns, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size  # first: how far can be scrolled follows from it
        self._keep_selection(old_line)
        all_differ = ages_differ or rooms_before != self._rooms
        self._paint(
            n
            for n, (old, new) in enumerate(zip_longest(before, self._lines))
            if all_differ or old != new or (isinstance(new, Row) and new.key in changed)
        )

    def _keep_selection(self, old_line: int | None) -> None:
        """The same row stays selected, at its place on the screen; where it is gone, the one nearest to it.

        At the top of the list it moves with the others, so that what is new and urgent is seen.
        """
        line = self._place.get(self._key)
        if line is None:
            rows = [n for n, entry in enumerate(self._lines) if isinstance(entry, Row)]
            near = min(rows, key=lambda n: abs(n - (old_line or 0)), default=None)
            self._select(near)
        elif old_line is not None and line != old_line:
            if self.scroll_y:  # forced: whether a list that has just grown can be scrolled is found out only later
                self.scroll_to(y=max(0, self.scroll_y + line - old_line), animate=False, force=True)
            else:
                self._bring_into_sight(line)
            self._paint((old_line, line))

    @property
    def selected(self) -> Row | None:
        """The row that is selected."""
        line = self._place.get(self._key)
        entry = self._lines[line] if line is not None else None
        return entry if isinstance(entry, Row) else None

    def select(self, key: str) -> None:
        """Select the row with this key, if there is one."""
        if key in self._place:
            self._select(self._place[key])

    def _select(self, line: int | None) -> None:
        previous = self._place.get(self._key)
        entry = self._lines[line] if line is not None else None
        self._key = entry.key if isinstance(entry, Row) else ""
        self._paint(n for n in (previous, line) if n is not None)
        if line is not None:
            self._bring_into_sight(line)
        self.post_message(self.Selected(self.selected))

    def _bring_into_sight(self, line: int) -> None:
        top = 0 if line == 1 else line  # the head above the first row comes along
        self.scroll_to_region(Region(0, top, 1, 1), animate=False, force=True)

    # Keys and mouse

    def action_move(self, by: int) -> None:
        """Select the row that is so many rows further on."""
        rows = [n for n, entry in enumerate(self._lines) if isinstance(entry, Row)]
        if not rows:
            return
        line = self._place.get(self._key)
        at = rows.index(line) if line in rows else 0
        self._select(rows[max(0, min(len(rows) - 1, at + by))])

    def action_move_page(self, by: int) -> None:
        """Select the row a page further on."""
        self.action_move(by * max(1, self.size.height - 2))

    def on_click(self, event: events.Click) -> None:
        """Select a row; a click on its verb does it."""
        line = int(event.y + self.scroll_y)
        entry = self._lines[line] if 0 <= line < len(self._lines) else None
        if not isinstance(entry, Row):
            return
        self._select(line)
        if entry.verbs and event.x >= self._columns - _verb_width(entry, self._columns):
            self.post_message(self.Wanted(entry, entry.verbs[0]))

    # Painting

    @property
    def _columns(self) -> int:
        return self.scrollable_content_region.width  # without the scrollbar

    def _paint(self, lines: Iterable[int]) -> None:
        """Paint these lines, where they are in sight; those that follow one another as one, because each is costly."""
        top, bottom = int(self.scroll_y), int(self.scroll_y) + self.size.height
        spans: list[tuple[int, int]] = []
        for line in sorted(line for line in lines if top <= line < bottom):
            if spans and line <= spans[-1][1]:
                spans[-1] = (spans[-1][0], line + 1)
            else:
                spans.append((line, line + 1))
        if spans:
            columns = self._columns
            self.refresh(*(Region(0, first - top, columns, end - first) for first, end in spans))

    def on_resize(self) -> None:
        """Every line is as wide as the board; the selected row stays in sight."""
        self.virtual_size = Size(self._columns, len(self._lines))
        line = self._place.get(self._key)
        if line is not None:
            self._bring_into_sight(line)

    def notify_style_update(self) -> None:
        """Other colours: nothing looks as it did."""
        super().notify_style_update()
        self._painted.clear()

    def render_line(self, y: int) -> Strip:
        """The line `y` of what is in sight."""
        line, columns = y + int(self.scroll_y), self._columns
        entry = self._lines[line] if line < len(self._lines) else None
        if isinstance(entry, Row):
            acting = self._acting.get(entry.key, "")
            old = age(self._now - entry.since) if entry.since else ""
            looks: tuple[object, ...] = (entry, columns, self._rooms, entry.key == self._key, acting, old)
        else:
            looks = (entry, columns)
        strip = self._painted.get(looks)
        if strip is None:
            if not self._painted or len(self._painted) == _KEPT:
                self._painted.clear()
                self._plain = self.rich_style  # asks all that it stands in: as costly as the rest of a line
            if isinstance(entry, Row):
                strip = self._row(entry, columns, selected=entry.key == self._key, acting=acting, old=old)
            else:
                strip = self._head(entry, columns) if entry else Strip.blank(columns, self._plain)
            self._painted[looks] = strip
        return strip

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"board--{name}")

    def _head(self, head: "_Head", columns: int) -> Strip:
        style = self._style(_class(head.section))
        text = f" {head.section.value} "
        strip = Strip([Segment(text, style), Segment(str(head.number), self._style("dim"))])
        return strip.adjust_cell_length(columns, self._plain)

    def _row(self, row: Row, columns: int, *, selected: bool, acting: str, old: str) -> Strip:
        mark = Segment(f"{'▶' if selected else ' '} {MARKS[row.section]} ", self._style(_class(row.section)))
        verb_room = _verb_width(row, columns)
        if row.section is Section.BACKGROUND:
            room = columns - width(mark.text) - verb_room - _AGE - min(self._rooms.notice_detail, columns // 3)
            parts = [Segment(_cell(_full_name(row), min(self._rooms.notice, max(10, room))), self._plain)]
        else:
            parts = [
                Segment(_cell(_full_name(row), min(self._rooms.name, _most_of_a_name(columns))), self._style("name")),
                Segment(_cell("…" if acting else row.state, self._rooms.state), self._style(_class(row.section))),
            ]
        parts.append(Segment(_cell(old, _AGE), self._style("dim")))
        used = sum(width(part.text) for part in (mark, *parts))
        room = max(0, columns - used - verb_room)
        detail = f"{acting} …" if acting else row.detail
        middle = Segment(_cell(detail, room, gap=0), self._plain)
        segments = [mark, *parts, middle]
        if verb_room:
            gap, end = Segment("  ", self._plain), Segment(" ", self._plain)
            segments += [gap, Segment(row.verbs[0], self._style("verb")), end]
        strip = Strip(segments).adjust_cell_length(columns, self._plain)
        return strip.apply_style(self._style("selected")) if selected else strip


class _Head(NamedTuple):
    """The line over a section's rows, with how many they are: it is another line when that changes."""

    section: Section
    number: int


def _lines(rows: Sequence[Row]) -> list[Row | _Head | None]:
    """The rows with a head over each section, and an empty line between two."""
    lines: list[Row | _Head | None] = []
    for section, of_it in groupby(rows, key=lambda row: row.section):
        shown = list(of_it)
        head = _Head(section, len(shown))
        lines += [None, head, *shown] if lines else [head, *shown]
    return lines


class _Rooms(NamedTuple):
    """How many columns some parts take in all their rows, so that they stand one below the other."""

    name: int
    state: int
    notice: int
    notice_detail: int


def _rooms(rows: Sequence[Row]) -> _Rooms:
    name = state = notice = detail = 0
    for row in rows:
        if row.section is Section.BACKGROUND:
            notice, detail = max(notice, width(_full_name(row))), max(detail, width(row.detail))
        else:
            name, state = max(name, width(_full_name(row))), max(state, width(row.state))
    return _Rooms(min(_NAME, name + 2), max(_STATE, state + 1), notice + 2, detail)


def _full_name(row: Row) -> str:
    return f"{row.project}/{row.name}" if row.project else row.name


def _class(section: Section) -> str:
    return section.value.lower().replace(" ", "-")


def _most_of_a_name(columns: int) -> int:
    if columns < _NARROW:
        return _NAME_WHERE_NARROW
    return _NAME if columns >= _WIDE else _NAME_WHERE_NOT_WIDE


def _verb_width(row: Row, columns: int) -> int:
    """How many columns the row's first verb takes; none where there is no room."""
    return len(row.verbs[0]) + 3 if row.verbs and columns >= _WIDE_ENOUGH_FOR_VERBS else 0


def _cell(text: str, columns: int, *, gap: int = 1) -> str:
    """`text` in exactly so many terminal columns, with `gap` free ones behind it."""
    shown = fit(text, columns - gap) if columns > gap else ""
    return shown + " " * (columns - width(shown))
