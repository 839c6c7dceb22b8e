"""What the selected worker's terminal shows, in its own colours and live."""

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Static

from woodwind.model.errors import WoodwindError
from woodwind.model.sections import Row, Section
from woodwind.muxes.base import Mux, Pane
from woodwind.tui.live import Live

# Whoever runs through the list with a key held down does not read terminals meanwhile.
_REST = 0.1

Find = Callable[[str], tuple[Mux, Pane] | None]


class Preview(Vertical):
    """The last lines of a terminal, cut to the room that there is. `find` gives a worker's terminal."""

    DEFAULT_CSS = """
    Preview { background: $background; border-left: solid $panel; }
    Preview.-below { border-left: none; border-top: solid $panel; }
    Preview > #preview-title { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    Preview > #preview-text { height: 1fr; text-wrap: nowrap; text-overflow: clip; }
    """

    def __init__(self, find: Find, id: str | None = None) -> None:
        super().__init__(id=id)
        self._find = find
        self._live = Live(self._capture)
        self._row: Row | None = None
        self._shown = ("", "")
        self._place: tuple[Mux, Pane] | None = None
        self._waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        """A title over the terminal's lines."""
        yield Static("", id="preview-title", markup=False)
        yield Static("", id="preview-text", markup=False)

    def on_unmount(self) -> None:
        """Let the terminal go."""
        self._live.end()

    def look_at(self, row: Row | None) -> None:
        """Show this row's terminal from now on, or what there is to say of a row without one; None: nothing."""
        key, state = (row.key, row.state) if row else ("", "")
        known, known_state = (self._row.key, self._row.state) if self._row else ("", "")
        if row and (key, state) == (known, known_state):
            return  # in another state its terminal may be another one, or have ended
        if self._waiting:
            self._waiting.stop()
        self._row = row
        if key != known:
            self._live.stop()
            self._place = None
        if row is None or row.section is Section.BACKGROUND:
            self.show(row.name if row else "", row.detail if row else "")
        else:
            self._waiting = self.set_timer(_REST, self._begin)

    def on_resize(self) -> None:
        """The same text, as much of it as there is room for now."""
        self.show(*self._shown)

    def _begin(self) -> None:
        self.run_worker(self._locate, thread=True, exclusive=True, group="locate")

    def _locate(self) -> None:
        row = self._row
        try:
            place, words = self._find(row.key) if row else None, "it has no terminal"
        except WoodwindError as error:
            place, words = None, error.message
        self.app.call_from_thread(self._located, row, place, words)

    def _located(self, row: Row | None, place: tuple[Mux, Pane] | None, words: str) -> None:
        if row is None or row is not self._row:
            return
        known, self._place = self._place, place
        if place is None:
            self._live.stop()
            self.show(row.name, words)
            return
        if known is None or _terminal(*known) != _terminal(*place):
            self._live.follow(*place)
        self._capture()

    def _capture(self) -> None:
        self.run_worker(self._captured, thread=True, exclusive=True, group="capture")

    def _captured(self) -> None:
        row, place = self._row, self._place
        if row is None or place is None:
            return
        try:
            text = place[0].screen(place[1])
        except WoodwindError as error:
            text = error.message
        self.app.call_from_thread(self._show_if_still, row, text)

    def _show_if_still(self, row: Row, text: str) -> None:
        if row is self._row and self._shown != (row.name, text):
            self.show(row.name, text)

    def show(self, title: str, captured: str) -> None:
        """Show a text with its colours; the end of it where it is longer than the room."""
        self._shown = (title, captured)
        # Its size is given, so that nothing else has to move.
        self.query_one("#preview-title", Static).update(Text(f" {title}"), layout=False)
        lines = last_lines(captured, max(1, self.size.height - 2))
        text = Text.from_ansi("\n".join(lines), no_wrap=True, overflow="crop")
        self.query_one("#preview-text", Static).update(text, layout=False)


def last_lines(captured: str, room: int) -> list[str]:
    """The end of a screen in so many lines; where it does not fit, without the empty space in it."""
    lines = captured.rstrip().split("\n")
    if len(lines) > room:
        lines = [line for n, line in enumerate(lines) if line.strip() or (n and lines[n - 1].strip())]
    return lines[-room:]


def _terminal(mux: Mux, pane: Pane) -> tuple[str, str, int, bool]:
    return mux.server, pane.id, pane.pid, pane.dead
