"""The control plane: rows by urgency, a live look at the selected terminal, and a verb for everything."""

import asyncio
import gc
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ClassVar
from weakref import WeakKeyDictionary

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.geometry import Size
from textual.notifications import Notification
from textual.screen import Screen
from textual.widgets import Input, Static

from woodwind.model.sections import Row, Rows, Section, Verb, counts, matching
from woodwind.model.text import clean
from woodwind.ops.overview import Overview
from woodwind.tui.bar import bar
from woodwind.tui.board import Board
from woodwind.tui.calls import from_thread
from woodwind.tui.dialogs import Confirm, Tell
from woodwind.tui.feed import Feed
from woodwind.tui.performer import Performer
from woodwind.tui.preview import Preview
from woodwind.tui.typed_ahead import Typed, TypedAhead
from woodwind.tui.verbs import HELP, KEYS

_SIDE_BY_SIDE = 130
_TOO_LOW_FOR_PREVIEW = 18
_AGES_EVERY = 30.0
_AFTER_REMARK = 0.2
# Verbs that run at the same time: as many as there may be rows. Python's own limit is a handful, and with so many
# landings under way nothing else would be done.
_HANDS = 500
# So many new objects are searched for garbage at once: two milliseconds.
_GARBAGE = 5_000


class ControlPlane(App[None]):
    """`ww` without words."""

    TITLE = "Woodwind"
    CSS = """
    #header { height: 1; background: $panel; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    #main { height: 1fr; layout: horizontal; }
    #main.-below { layout: vertical; }
    #board { width: 1fr; min-width: 80; height: 1fr; }
    #main.-below #board { min-width: 1; }
    #preview { width: 1fr; height: 1fr; }
    #main.-below #preview { height: 40%; }
    #bar { height: 1; background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
    #filter { height: 1; border: none; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"verb('{verb.value}')", verb.value, show=False) for verb, key in KEYS.items()),
        Binding("n", "new", "new", show=False),
        Binding("enter", "first_verb", "do", show=False),
        Binding("slash", "filter", "filter", show=False),
        Binding("v", "preview", "preview", show=False),
        Binding("question_mark,f1", "help", "help", show=False),
        Binding("escape", "close_filter", show=False),
        Binding("q,ctrl+c", "quit", "quit", show=False),
    ]

    def __init__(
        self, cwd: str, *, everywhere: bool = False, theme_name: str = "textual-dark", preview: bool = True
    ) -> None:
        # With ANSI colours, Textual's filter for NO_COLOR takes them all away; else it would paint in greys.
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        self.theme = theme_name
        self._overview: Overview | None = None
        self._made = Rows()
        self._rows: list[Row] = []
        self._filter = ""
        self._ends_filter = False
        self._trouble = ""
        self._wants_preview = preview
        self._said: dict[str, str | Text] = {}
        self._feed = Feed(
            cwd,
            everywhere=everywhere,
            on_look=partial(from_thread, self, self._on_look),
            on_trouble=partial(from_thread, self, self._on_trouble),
        )
        self._taken_for: WeakKeyDictionary[Typed, Screen[object]] = WeakKeyDictionary()
        self._typed = TypedAhead(self, self._take)
        self._performer = Performer(
            self, cwd, changed=self._paint, after=self._feed.look_again, typed_ahead=self._typed
        )

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="header", markup=False)
        with Container(id="main"):
            yield Board(id="board")
            yield Preview(self._performer.actions.terminal_of, id="preview")
        yield Input(placeholder="filter: words that must occur; Esc clears", id="filter")
        yield Static(id="bar")

    def on_mount(self) -> None:
        """Begin to look."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_HANDS, "hand"))
        self.board.focus()
        self._arrange(self.size)
        self._paint()
        self._feed.start()
        self.set_interval(_AGES_EVERY, self._paint)

    def on_unmount(self) -> None:
        """Stop looking; what still waits for an answer gets a no."""
        self._feed.stop()
        self._performer.leave()

    @property
    def board(self) -> Board:
        """The list of rows."""
        return self.query_one("#board", Board)

    # What is shown

    def _on_look(self, overview: Overview) -> None:
        is_first = self._overview is None
        self._overview = overview
        self._paint()
        if is_first:
            # What is there now stays. Python searches only the rest for garbage, often and each time for a moment: with
            # the limits of short commands it would stand still for up to 60 ms.
            gc.freeze()
            gc.set_threshold(_GARBAGE)

    def _on_trouble(self, words: str) -> None:
        self._trouble = words
        self._paint()

    def _now(self) -> float:
        return time.time()

    def _paint(self) -> None:
        now = self._now()
        if seen := self._overview:
            self._rows = self._made.of(seen.workers, seen.notices, now=now, order=seen.order)
        shown = matching(self._rows, self._filter) if self._filter else self._rows
        self.board.show(shown, now, self._performer.under_way)
        self._say("#header", self._header())
        self._paint_bar()
        self._look_at(self.board.selected)

    def _say(self, line: str, words: str | Text) -> None:
        """Put words on a line of the screen; the same again cost nothing."""
        if self._said.get(line) != words:
            self._said[line] = words
            self.query_one(line, Static).update(words, layout=False)  # one line, whatever is on it

    def _unnotify(self, notification: Notification, refresh: bool = True) -> None:
        """A remark that has passed: Textual leaves its last frame on a screen on which nothing else changes."""
        super()._unnotify(notification, refresh)
        self.set_timer(_AFTER_REMARK, self.screen.refresh)

    def _header(self) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        project = self._overview.project if self._overview else ""
        text.append(f" woodwind  {project or 'all projects' if self._overview else 'looking …'}", "bold")
        trouble = self._trouble or next(iter(self._overview.notes), "") if self._overview else self._trouble
        if trouble:  # before all that may not fit
            text.append("   ")
            text.append(f" {clean(trouble)} ", "bold reverse")
        for section, number in counts(self._rows).items():
            text.append(f"   {section.value.lower()} {number}", "bold" if section is Section.NEEDS_YOU else "")
        for run in self._overview.runs if self._overview else ():
            text.append(f"   {run}", "italic")
        if self._filter:
            text.append(f"   filter: {self._filter}", "italic")
        return text

    def _paint_bar(self, columns: int = 0) -> None:
        """Say what can be done; `columns` where the app itself does not know yet how wide it has become."""
        row = self.board.selected
        if row is None and self._overview:
            empty = "no row matches the filter" if self._filter else "no workers: n starts one"
        else:
            empty = ""
        self._say("#bar", bar(row.verbs if row else (), empty, columns or self.size.width))

    # Selection and preview

    def on_board_selected(self, message: Board.Selected) -> None:
        """Another row: other verbs, another terminal."""
        self._paint_bar()
        self._look_at(message.row)

    def on_resize(self, event: events.Resize) -> None:
        """The preview goes beside the list, below it, or away."""
        self._arrange(event.size)
        self._paint_bar(event.size.width)

    def _arrange(self, size: Size) -> None:
        main, preview = self.query_one("#main"), self.query_one("#preview", Preview)
        below = size.width < _SIDE_BY_SIDE
        main.set_class(below, "-below")
        preview.set_class(below, "-below")
        preview.display = self._wants_preview and not (below and size.height < _TOO_LOW_FOR_PREVIEW)
        self._look_at(self.board.selected)

    def action_preview(self) -> None:
        """Show the terminal of the selected worker, or hide it."""
        self._wants_preview = not self._wants_preview
        self._arrange(self.size)

    def _look_at(self, row: Row | None) -> None:
        preview = self.query_one("#preview", Preview)
        preview.look_at(row if preview.display else None)

    # What is typed

    async def on_event(self, event: events.Event) -> None:
        """Everything as Textual has it, but what is typed comes to whom it is for."""
        if not isinstance(event, events.Key | events.Paste):
            await super().on_event(event)
        elif event.is_forwarded:  # nobody on its screen wanted it: it is not for another that is there by now
            if self._taken_for.get(event, self.screen) is self.screen:
                await super().on_event(event)
        elif isinstance(event, events.Key) and event.key == "ctrl+c":
            await super().on_event(event)  # whatever is being waited for
        else:
            await self._typed.typed(event)

    async def _take(self, event: Typed) -> None:
        """A key for the list is done at once, so that the next one comes to what it opened."""
        if isinstance(event, events.Key) and len(self.screen_stack) == 1:
            if self.focused is self.board:
                for first in (True, False):
                    if await self._check_bindings(event.key, priority=first):
                        return
            elif event.key in ("enter", "escape") and not self._ends_filter:  # after all that was typed into it
                self._ends_filter = self.focused is self.query_one("#filter")
                if self._ends_filter:
                    self._typed.expect()
        self._taken_for[event] = self.screen
        await super().on_event(event)

    # Verbs

    def on_board_wanted(self, message: Board.Wanted) -> None:
        """A click on a row's verb."""
        self._want(message.row, message.verb)

    def action_first_verb(self) -> None:
        """Do what is most likely wanted with the selected row."""
        row = self.board.selected
        if row and row.verbs:
            self._want(row, row.verbs[0])

    def action_verb(self, name: str) -> None:
        """A verb's key: it is done where the selected row has it."""
        row, verb = self.board.selected, Verb(name)
        if row is None:
            return
        if verb not in row.verbs:
            self.notify(f"{row.name} cannot be told to {verb.value} now", severity="warning", markup=False)
            return
        self._want(row, verb)

    def _want(self, row: Row, verb: Verb) -> None:
        workers = self._overview.workers if self._overview else ()
        self._performer.want(row, verb, next((worker for worker in workers if worker["id"] == row.key), None))

    async def action_quit(self) -> None:
        """Leave; while something is being done only after a yes, because it is finished first."""
        if not self._performer.under_way:
            self.exit()
            return
        doing = ", ".join(sorted(set(self._performer.under_way.values())))
        question = f"Leave? Something is under way ({doing}): the program ends when it is done."
        self.push_screen(Confirm(question), lambda yes: self.exit() if yes else None)

    def action_new(self) -> None:
        """Fill in the form for a new worker."""
        self._performer.new_worker()

    # The rest

    def action_filter(self) -> None:
        """Type words that must occur."""
        line = self.query_one("#filter", Input)
        line.display = True
        self.screen.set_focus(line)  # at once: the next key belongs to it already

    def on_input_changed(self, event: Input.Changed) -> None:
        """The list follows what is typed."""
        if event.input.id == "filter":
            self._filter = event.value.strip()
            self._paint()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the list, filtered."""
        if event.input.id == "filter":
            self._leave_filter(event.input)

    def action_close_filter(self) -> None:
        """Everything is shown again."""
        line = self.query_one("#filter", Input)
        line.value = ""
        self._leave_filter(line)

    def _leave_filter(self, line: Input) -> None:
        line.display = False
        self.board.focus()
        if self._ends_filter:
            self._ends_filter = False
            self._typed.came()

    def action_help(self) -> None:
        """What the keys do."""
        self.push_screen(Tell("Keys", HELP))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the command palette has: the verbs of the selected row, what can always be done, the way to each row."""
        row = self.board.selected
        for verb in row.verbs if row else ():
            name = f"{verb.value} {row.name if row else ''}"
            yield SystemCommand(name, f"key {KEYS[verb]}", partial(self.action_verb, verb.value))
        yield SystemCommand("new worker", "fill in the form: key n", self.action_new)
        yield SystemCommand("filter", "show only rows with some words: key /", self.action_filter)
        yield SystemCommand("preview", "show or hide the selected terminal: key v", self.action_preview)
        yield SystemCommand("help", "what the keys do: key ?", self.action_help)
        yield SystemCommand("theme", "other colours, until you leave", self.action_change_theme)
        yield SystemCommand("quit", "leave; the agents go on: key q", self.action_quit)
        for other in self._rows:
            yield SystemCommand(f"go to {other.name}", other.detail, partial(self.board.select, other.key))
