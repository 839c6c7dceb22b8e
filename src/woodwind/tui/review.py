"""What a worker did, line by line, with comments that go to its agent as one message."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from woodwind.model.review import Comment, FileDiff
from woodwind.model.text import clean, fit
from woodwind.tui.calls import call, complain
from woodwind.tui.dialogs import Write

T = TypeVar("T")
_SIGNS = {"added": "+", "removed": "-", "same": " "}


class Line(NamedTuple):
    """One line of the picture. `place` is FILE:LINE where it can be commented on."""

    kind: str  # file, hunk, added, removed, same, comment
    text: str
    place: str = ""


def lines_of(files: Sequence[FileDiff], comments: Sequence[Comment]) -> list[Line]:
    """The difference as lines, each comment under the line that it is about."""
    said: dict[str, list[str]] = {}
    for comment in comments:
        said.setdefault(f"{comment.path}:{comment.line}", []).append(comment.text)
    lines = []
    for file in files:
        added, removed = file.counts
        name = file.path if file.old_path == file.path else f"{file.old_path} → {file.path}"
        lines.append(Line("file", f"{name}  {file.status}  +{added} -{removed}{'  binary' if file.binary else ''}"))
        for hunk in file.hunks:
            lines.append(Line("hunk", f"@@ {hunk.where}"))
            for entry in hunk.lines:
                place = f"{file.path}:{entry.new}" if entry.new else ""
                lines.append(Line(entry.kind, f"{entry.new or '':>5} {_SIGNS[entry.kind]} {entry.text}", place))
                lines += [Line("comment", f"      ▸ {words}") for words in said.get(place, [])]
    return lines


class DiffView(ScrollView, can_focus=True):
    """The lines, one of them selected."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "diff--file", "diff--hunk", "diff--added", "diff--removed", "diff--same", "diff--comment", "diff--selected",
    }  # fmt: skip
    DEFAULT_CSS = """
    DiffView { background: $background; overflow-x: hidden; }
    DiffView > .diff--file { text-style: bold; color: $text-primary; }
    DiffView > .diff--hunk { color: $text-muted; }
    DiffView > .diff--added { color: $text-success; }
    DiffView > .diff--removed { color: $text-error; }
    DiffView > .diff--comment { color: $text-warning; text-style: bold; }
    DiffView > .diff--selected { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move_page(-1)", show=False),
        Binding("pagedown", "move_page(1)", show=False),
        Binding("home", "move(-10000000)", show=False),
        Binding("end", "move(10000000)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []
        self._at = 0

    def show(self, lines: list[Line]) -> None:
        """Show these lines, at the place where the reader was."""
        self._lines = lines
        self._at = max(0, min(self._at, len(lines) - 1))
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        self.refresh()

    @property
    def place(self) -> str:
        """FILE:LINE of the selected line, or "" where it cannot be commented on."""
        return self._lines[self._at].place if self._lines else ""

    def action_move(self, by: int) -> None:
        """Select another line."""
        self._at = max(0, min(len(self._lines) - 1, self._at + by))
        self.scroll_to_region(Region(0, self._at, 1, 1), animate=False, force=True)
        self.refresh()

    def action_move_page(self, by: int) -> None:
        """Select a line a page away."""
        self.action_move(by * max(1, self.size.height - 1))

    def render_line(self, y: int) -> Strip:
        """The line `y` of what is in sight."""
        columns, n = self.scrollable_content_region.width, y + int(self.scroll_y)
        if n >= len(self._lines):
            return Strip.blank(columns, self.rich_style)
        line = self._lines[n]
        style = self.get_component_rich_style(f"diff--{line.kind}")
        text = fit(clean(line.text).expandtabs(4), columns)
        strip = Strip([Segment(text, style)]).adjust_cell_length(columns, self.rich_style)
        return strip.apply_style(self.get_component_rich_style("diff--selected")) if n == self._at else strip


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


class Reviewing(NamedTuple):
    """What a review can do; each may be called in a thread."""

    load: Callable[[], tuple[Sequence[FileDiff], Sequence[Comment]]]
    comment: Callable[[str, str], None]
    send: Callable[[], int]


class ReviewScreen(Screen[str]):
    """The difference of one worker; it ends with what is to be told, or ""."""

    DEFAULT_CSS = """
    ReviewScreen #review-title, ReviewScreen #review-bar { height: 1; background: $panel; }
    ReviewScreen DiffView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "comment", "comment"),
        Binding("s", "send", "send"),
        Binding("escape,q", "dismiss('')", "back"),
    ]

    def __init__(self, name: str, reviewing: Reviewing) -> None:
        super().__init__()
        self._worker = name
        self._reviewing = reviewing
        self._comments = 0

    def compose(self) -> ComposeResult:
        """A title, the lines, and the keys."""
        yield Static(f" review of {self._worker}: looking …", id="review-title", markup=False)
        yield DiffView()
        yield Static(" [b]c[/b] comment on the line  [b]s[/b] send all comments  [b]Esc[/b] back", id="review-bar")

    def on_mount(self) -> None:
        """Look."""
        self.query_one(DiffView).focus()
        self._look()

    def _look(self) -> None:
        self._call(self._reviewing.load, self._show)

    def _show(self, found: tuple[Sequence[FileDiff], Sequence[Comment]]) -> None:
        files, comments = found
        self._comments = len(comments)
        title = f" review of {self._worker}: {_count(files, 'file')}, {_count(comments, 'comment')} not sent"
        self.query_one("#review-title", Static).update(title)
        self.query_one(DiffView).show(lines_of(files, comments))

    def action_comment(self) -> None:
        """Write a comment on the selected line."""
        place = self.query_one(DiffView).place
        if not place:
            self.notify("Only a line that is there now can be commented on.", severity="warning")
            return

        def written(text: str | None) -> None:
            if text:
                self._call(lambda: self._reviewing.comment(place, text), lambda _: self._look())

        self.app.push_screen(Write(f"Comment on {place}:", verb="Keep"), written)

    def action_send(self) -> None:
        """Send all comments as one message."""
        if not self._comments:
            self.notify("There is no comment to send: c makes one.", severity="warning")
            return
        self._call(self._reviewing.send, self._sent)

    def _sent(self, number: int) -> None:
        self.dismiss(f"{self._worker} got {number} comment{'' if number == 1 else 's'}")

    def _call(self, make: Callable[[], T], then: Callable[[T], object]) -> None:
        call(self.app, make, then, lambda words: complain(self, words))
