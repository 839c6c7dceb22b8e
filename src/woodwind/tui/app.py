"""The control plane: rows by urgency, a live look at the selected terminal, and a verb for everything."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import ClassVar, Literal

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.geometry import Size
from textual.notifications import Notification
from textual.screen import Screen
from textual.widgets import Input, Static

from woodwind.model.errors import WoodwindError
from woodwind.model.sections import Row, Section, Verb, counts, matching, rows
from woodwind.model.text import clean
from woodwind.ops.overview import Overview
from woodwind.tui.actions import Actions
from woodwind.tui.board import Board
from woodwind.tui.calls import call, complain, told
from woodwind.tui.dialogs import Answer, Confirm, Tell, Write
from woodwind.tui.feed import Feed
from woodwind.tui.new_worker import NewWorker, Wish
from woodwind.tui.preview import Preview
from woodwind.tui.review import ReviewScreen
from woodwind.tui.starting import choices, start
from woodwind.tui.verbs import DOING, GENERAL, HELP, KEYS, QUESTIONS, event_of

_SIDE_BY_SIDE = 130
_TOO_LOW_FOR_PREVIEW = 18
_AGES_EVERY = 30.0
_AFTER_REMARK = 0.2


class ControlPlane(App[None]):
    """`ww` without words."""

    TITLE = "Woodwind"
    CSS = """
    #header { height: 1; background: $panel; color: $text; }
    #main { height: 1fr; layout: horizontal; }
    #main.-below { layout: vertical; }
    #board { width: 1fr; height: 1fr; }
    #preview { width: 50%; height: 1fr; }
    #main.-below #preview { width: 1fr; height: 40%; }
    #bar { height: 1; background: $panel; }
    #filter { height: 1; border: none; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"verb('{verb.value}')", verb.value, show=False) for verb, key in KEYS.items()),
        Binding("n", "new", "new", show=False),
        Binding("slash", "filter", "filter", show=False),
        Binding("v", "preview", "preview", show=False),
        Binding("question_mark,f1", "help", "help", show=False),
        Binding("escape", "close_filter", show=False),
        Binding("q,ctrl+c", "quit", "quit", show=False),
    ]

    def __init__(
        self, cwd: str, *, everywhere: bool = False, theme_name: str = "textual-dark", preview: bool = True
    ) -> None:
        super().__init__()
        self.theme = theme_name
        self._cwd = cwd
        self._actions = Actions(cwd, self._ask_from_thread)
        self._everywhere = everywhere
        self._overview: Overview | None = None
        self._rows: list[Row] = []
        self._acting: dict[str, str] = {}
        self._filter = ""
        self._trouble = ""
        self._wants_preview = preview
        self._said: dict[str, str | Text] = {}
        self._asked: set[Future[bool | None]] = set()
        self._feed = Feed(
            cwd,
            everywhere=everywhere,
            on_look=partial(self._from_thread, self._on_look),
            on_trouble=partial(self._from_thread, self._on_trouble),
        )

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="header", markup=False)
        with Container(id="main"):
            yield Board(id="board")
            yield Preview(self._actions.terminal_of, id="preview")
        yield Input(placeholder="filter: words that must occur; Esc clears", id="filter")
        yield Static(id="bar")

    def on_mount(self) -> None:
        """Begin to look."""
        self.board.focus()
        self._arrange(self.size)
        self._paint()
        self._feed.start()
        self.set_interval(_AGES_EVERY, self._paint)

    def on_unmount(self) -> None:
        """Stop looking; what still waits for an answer gets a no."""
        self._feed.stop()
        for answer in self._asked:
            if not answer.done():
                answer.set_result(False)

    @property
    def board(self) -> Board:
        """The list of rows."""
        return self.query_one("#board", Board)

    # What is shown

    def _from_thread(self, call: Callable[..., None], *args: object) -> None:
        if self.is_running:
            self.call_from_thread(call, *args)

    def _on_look(self, overview: Overview) -> None:
        self._overview = overview
        self._paint()

    def _on_trouble(self, words: str) -> None:
        self._trouble = words
        self._paint()

    def _paint(self) -> None:
        now = time.time()
        if self._overview:
            self._rows = rows(self._overview.workers, self._overview.notices, now=now, order=self._overview.order)
        shown = matching(self._rows, self._filter) if self._filter else self._rows
        self.board.show(shown, now, self._acting)
        self._say("#header", self._header())
        self._paint_bar()
        self._look_at(self.board.selected)

    def _say(self, line: str, words: str | Text) -> None:
        """Put words on a line of the screen; the same again cost nothing."""
        if self._said.get(line) != words:
            self._said[line] = words
            self.query_one(line, Static).update(words)

    def _unnotify(self, notification: Notification, refresh: bool = True) -> None:
        """A remark that has passed: Textual leaves its last frame on a screen on which nothing else changes."""
        super()._unnotify(notification, refresh)
        self.set_timer(_AFTER_REMARK, self.screen.refresh)

    def _header(self) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        project = self._overview.project if self._overview else ""
        text.append(f" woodwind  {project or 'all projects' if self._overview else 'looking …'}", "bold")
        for section, number in counts(self._rows).items():
            text.append(f"   {section.value.lower()} {number}", "bold" if section is Section.NEEDS_YOU else "")
        for run in self._overview.runs if self._overview else ():
            text.append(f"   {run}", "italic")
        if self._filter:
            text.append(f"   filter: {self._filter}", "italic")
        trouble = self._trouble or next(iter(self._overview.notes), "") if self._overview else self._trouble
        if trouble:
            text.append("   ")
            text.append(f" {clean(trouble)} ", "bold reverse")
        return text

    def _paint_bar(self) -> None:
        row, parts = self.board.selected, []
        if row is None and self._overview:
            parts.append("[i]no row matches the filter[/i]" if self._filter else "[i]no workers: n starts one[/i]")
        for n, verb in enumerate(row.verbs if row else ()):
            key = f"⏎ {KEYS[verb]}" if n == 0 else KEYS[verb]
            parts.append(f"[@click=app.verb('{verb.value}')][b]{key}[/b] {verb.value}[/]")
        general = (f"[@click=app.{action}]{key} {name}[/]" for key, name, action in GENERAL)
        parts.append(f"[dim]{' · '.join(general)}[/dim]")
        self._say("#bar", " " + "  ".join(parts))

    # Selection and preview

    def on_board_selected(self, message: Board.Selected) -> None:
        """Another row: other verbs, another terminal."""
        self._paint_bar()
        self._look_at(message.row)

    def on_resize(self, event: events.Resize) -> None:
        """The preview goes beside the list, below it, or away."""
        self._arrange(event.size)

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

    # Verbs

    def on_board_wanted(self, message: Board.Wanted) -> None:
        """Enter or a click on a row's verb."""
        self._want(message.row, message.verb)

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
        if row.key in self._acting:
            self.notify(f"{row.name} is busy: {self._acting[row.key]}", severity="warning", markup=False)
        elif verb is Verb.ATTACH:
            self._go_to(row)
        elif verb is Verb.SEND:
            self.push_screen(Write(f"To {row.name}:"), partial(self._act_with_text, row, self._actions.send, "sending"))
        elif verb is Verb.ANSWER:
            self._answer(row)
        elif verb is Verb.REVIEW:
            self._review(row)
        elif verb is Verb.FIX:
            self._fix(row)
        elif verb is Verb.EXPLAIN:
            make = partial(self._actions.explain, row.key)
            call(self, make, lambda text: self.push_screen(Tell(row.name, text)), partial(complain, self))
        elif verb is Verb.DISMISS:
            self._act(row, "dismissing", partial(self._actions.dismiss, event_of(row)))
        elif verb is Verb.REMOVE:
            call(
                self, partial(self._actions.what_goes, row.key), partial(self._sure, row, verb), partial(complain, self)
            )
        elif verb in QUESTIONS:
            self._sure(row, verb, row.detail)
        else:
            self._act(row, DOING[verb], partial(getattr(self._actions, verb.value), row.key))

    def _sure(self, row: Row, verb: Verb, detail: str) -> None:
        if not isinstance(self.screen, Confirm):  # a key that was pressed twice asks once
            self.push_screen(
                Confirm(QUESTIONS[verb].format(name=row.name), detail), partial(self._confirmed, row, verb)
            )

    def _confirmed(self, row: Row, verb: Verb, yes: bool | None) -> None:
        if not yes or row.key in self._acting:
            return
        if verb is Verb.UNDO:
            self._act(row, DOING[verb], partial(self._actions.undo, event_of(row)))
        else:
            self._act(row, DOING[verb], partial(getattr(self._actions, verb.value), row.key))

    def _act_with_text(self, row: Row, call: Callable[[str, str], str], doing: str, text: str | None) -> None:
        if text:
            self._act(row, doing, lambda: call(row.key, text))

    def _answer(self, row: Row) -> None:
        entry = next((w for w in self._overview.workers if w["id"] == row.key), None) if self._overview else None
        question = (entry or {}).get("question") or {}

        def send(worker: str, text: str) -> str:
            return self._actions.answer(worker, text, str(question.get("id", "")))

        done = partial(self._act_with_text, row, send, "answering")
        self.push_screen(Answer(row.name, str(question.get("text") or row.detail)), done)

    def _act(self, row: Row, doing: str, make: Callable[[], str]) -> None:
        """Do something with a row in a thread; the row shows it meanwhile, and what came of it is told."""
        self._acting[row.key] = doing
        self._paint()
        call(self, make, partial(self._done, row, "information"), partial(self._done, row, "error"))

    def _done(self, row: Row, severity: Literal["information", "error"], words: str) -> None:
        self._acting.pop(row.key, None)
        if words:
            self.notify(words, severity=severity, timeout=10 if severity == "error" else 4, markup=False)
        self._paint()
        self._feed.look_again()

    def _ask_from_thread(self, question: str) -> bool:
        answer: Future[bool | None] = Future()
        self._asked.add(answer)
        try:
            self._from_thread(self._ask, question, answer)
            return bool(answer.result()) if self.is_running else False
        finally:
            self._asked.discard(answer)

    def _ask(self, question: str, answer: Future[bool | None]) -> None:
        self.push_screen(Confirm(question), answer.set_result)

    async def action_quit(self) -> None:
        """Leave; while something is being done only after a yes, because it is finished first."""
        if not self._acting:
            self.exit()
            return
        doing = ", ".join(sorted(set(self._acting.values())))
        question = f"Leave? Something is under way ({doing}): the program ends when it is done."
        self.push_screen(Confirm(question), lambda yes: self.exit() if yes else None)

    def _review(self, row: Row) -> None:
        def ended(words: str | None) -> None:
            if words:
                self.notify(words, markup=False)

        self.push_screen(ReviewScreen(row.name, self._actions.reviewing(row.key)), ended)

    def _fix(self, row: Row) -> None:
        """Open the files that have conflicts in them; where there are none, go to the worker's terminal."""

        def found(files: list[str]) -> None:
            if files:
                self._outside(partial(self._actions.edit, files))
            else:
                self._go_to(row)

        call(self, partial(self._actions.conflicted, row.key), found, partial(complain, self))

    def _go_to(self, row: Row) -> None:
        """Bring the person to a worker's terminal and, outside of tmux, back again."""

        def found(switches: bool) -> None:
            if switches:
                call(self, partial(self._actions.attach, row.key), lambda _: None, partial(complain, self))
            else:
                self._outside(partial(self._actions.attach, row.key))

        call(self, partial(self._actions.switches, row.key), found, partial(complain, self))

    def _outside(self, make: Callable[[], object]) -> None:
        """Hand the terminal to another program and take it back."""
        try:
            with self.suspend():
                make()
        except (WoodwindError, SuspendNotSupported) as error:
            complain(self, told(error))
        self.refresh(layout=True)
        self._feed.look_again()

    def action_new(self) -> None:
        """Fill in the form for a new worker."""

        def filled(wish: Wish | None) -> None:
            if wish:
                self.notify("starting a worker …")
                make = partial(start, self._cwd, wish, self._ask_from_thread)
                call(self, make, partial(self.notify, markup=False), partial(complain, self))

        def ready(choices: tuple[list[str], list[str]]) -> None:
            self.push_screen(NewWorker(*choices), filled)

        call(self, partial(choices, self._cwd), ready, partial(complain, self))

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
            event.input.display = False
            self.board.focus()

    def action_close_filter(self) -> None:
        """Everything is shown again."""
        line = self.query_one("#filter", Input)
        line.value = ""
        line.display = False
        self.board.focus()

    def action_help(self) -> None:
        """What the keys do."""
        self.push_screen(Tell("Keys", HELP))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The verbs of the selected row in the command palette, besides Textual's own commands."""
        row = self.board.selected
        for verb in row.verbs if row else ():
            name = f"{verb.value} {row.name if row else ''}"
            yield SystemCommand(name, f"key {KEYS[verb]}", partial(self.action_verb, verb.value))
        yield SystemCommand("new worker", "fill in the form: key n", self.action_new)
        yield SystemCommand("filter", "show only rows with some words: key /", self.action_filter)
        yield SystemCommand("preview", "show or hide the selected terminal: key v", self.action_preview)
        yield SystemCommand("help", "what the keys do: key ?", self.action_help)
        for other in self._rows:
            yield SystemCommand(f"go to {other.name}", other.detail, partial(self.board.select, other.key))
        yield from super().get_system_commands(screen)
