"""Doing what a person wants with a row: asking first where that is due, then one call in a thread, then telling."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Literal, TypeVar

from textual.app import App, SuspendNotSupported

from woodwind.model.errors import WoodwindError
from woodwind.model.sections import Entry, Row, Verb
from woodwind.tui.actions import Actions
from woodwind.tui.calls import call, complain, from_thread, told
from woodwind.tui.dialogs import Answer, Confirm, Tell, Write
from woodwind.tui.new_worker import NewWorker, Wish
from woodwind.tui.review import ReviewScreen
from woodwind.tui.starting import choices, start
from woodwind.tui.typed_ahead import TypedAhead
from woodwind.tui.verbs import DOING, QUESTIONS, event_of

T = TypeVar("T")


class Performer:
    """The verbs of an app. `changed` is called when what is under way is another, `after` when something was done.

    What `after` is given it has to call, from a thread, as soon as what was done is shown.
    """

    def __init__(
        self,
        app: App[None],
        cwd: str,
        *,
        changed: Callable[[], None],
        after: Callable[[Callable[[], None]], None],
        typed_ahead: TypedAhead,
    ) -> None:
        self._app = app
        self._cwd = cwd
        self._changed = changed
        self._after = after
        self._typed = typed_ahead
        self._asked: set[Future[bool | None]] = set()
        self.actions = Actions(cwd, self._ask_from_thread)
        self.under_way: dict[str, str] = {}  # what is being done, by the row's key
        # What a person wrote and nobody got: it is there when they write the next time.
        self._unsent: dict[str, str] = {}
        self._unmet: Wish | None = None

    def want(self, row: Row, verb: Verb, entry: Entry | None) -> None:
        """Do this with a row, unless something is being done with it; `entry` is its worker."""
        if row.key in self.under_way:
            self._app.notify(f"{row.name} is busy: {self.under_way[row.key]}", severity="warning", markup=False)
        elif verb is Verb.ATTACH:
            self._go_to(row)
        elif verb is Verb.SEND:
            written = partial(self._act_with_text, row, self._send, DOING[verb])
            self._app.push_screen(Write(f"To {row.name}:", self._unsent.pop(row.key, "")), written)
        elif verb is Verb.ANSWER:
            self._answer(row, entry or {})
        elif verb is Verb.REVIEW:
            self._review(row)
        elif verb is Verb.FIX:
            self._fix(row)
        elif verb is Verb.EXPLAIN:
            self._open(partial(self.actions.explain, row.key), lambda text: self._app.push_screen(Tell(row.name, text)))
        elif verb is Verb.DISMISS:
            self._act(row, "dismissing", partial(self.actions.dismiss, event_of(row)))
        elif verb is Verb.REMOVE:
            self._open(partial(self.actions.what_goes, row.key), partial(self._sure, row, verb))
        elif verb in QUESTIONS:
            self._sure(row, verb, row.detail)
        else:
            self._act(row, DOING[verb], partial(getattr(self.actions, verb.value), row.key))

    def new_worker(self) -> None:
        """Fill in the form for a new worker, and start it."""

        def filled(wish: Wish | None) -> None:
            if wish:
                self._app.notify("starting a worker …")
                make = partial(start, self._cwd, wish, self._ask_from_thread)
                call(self._app, make, partial(self._app.notify, markup=False), partial(failed, wish))

        def failed(wish: Wish, words: str) -> None:
            self._unmet = wish
            complain(self._app, words)

        def ready(choices: tuple[list[str], list[str]]) -> None:
            wish, self._unmet = self._unmet, None
            self._app.push_screen(NewWorker(*choices, wish), filled)

        self._open(partial(choices, self._cwd), ready)

    def leave(self) -> None:
        """What still waits for an answer gets a no."""
        for answer in self._asked:
            if not answer.done():
                answer.set_result(False)

    def _open(self, make: Callable[[], T], then: Callable[[T], object]) -> None:
        """Open a screen with what a call gives: what is typed meanwhile is for that screen."""

        def opened(made: T) -> None:
            then(made)
            self._typed.came()

        self._wait_for(make, opened)

    def _wait_for(self, make: Callable[[], T], then: Callable[[T], object]) -> None:
        def failed(words: str) -> None:
            self._typed.came_not()
            complain(self._app, words)

        self._typed.expect()
        call(self._app, make, then, failed)

    # Asking first

    def _sure(self, row: Row, verb: Verb, detail: str) -> None:
        if not isinstance(self._app.screen, Confirm):  # a key that was pressed twice asks once
            question = QUESTIONS[verb].format(name=row.name)
            self._app.push_screen(Confirm(question, detail), partial(self._confirmed, row, verb))

    def _confirmed(self, row: Row, verb: Verb, yes: bool | None) -> None:
        if not yes or row.key in self.under_way:
            return
        if verb is Verb.UNDO:
            self._act(row, DOING[verb], partial(self.actions.undo, event_of(row)))
        else:
            self._act(row, DOING[verb], partial(getattr(self.actions, verb.value), row.key))

    def _answer(self, row: Row, entry: Entry) -> None:
        question = entry.get("question") or {}

        def send(worker: str, text: str) -> str:
            return self.actions.answer(worker, text, str(question.get("id", "")))

        done = partial(self._act_with_text, row, send, DOING[Verb.ANSWER])
        self._app.push_screen(Answer(row.name, str(question.get("text") or row.detail)), done)

    def _ask_from_thread(self, question: str) -> bool:
        """A question of an op that is under way, put to the person."""
        answer: Future[bool | None] = Future()
        self._asked.add(answer)
        try:
            from_thread(self._app, lambda: self._app.push_screen(Confirm(question), answer.set_result))
            return bool(answer.result()) if self._app.is_running else False
        finally:
            self._asked.discard(answer)

    # Doing

    def _send(self, worker: str, text: str) -> str:
        try:
            return self.actions.send(worker, text)
        except Exception:
            self._unsent[worker] = text
            raise

    def _act_with_text(self, row: Row, make: Callable[[str, str], str], doing: str, text: str | None) -> None:
        if text:
            self._act(row, doing, lambda: make(row.key, text))

    def _act(self, row: Row, doing: str, make: Callable[[], str]) -> None:
        """Do something with a row in a thread; the row shows it meanwhile, and what came of it is told."""
        self.under_way[row.key] = doing
        self._changed()
        call(self._app, make, partial(self._done, row, "information"), partial(self._done, row, "error"))

    def _done(self, row: Row, severity: Literal["information", "error"], words: str) -> None:
        """The row is busy until it shows what was done: whoever goes on by what they see must not be too early."""

        def tell() -> None:
            self.under_way.pop(row.key, None)
            if words:
                self._app.notify(words, severity=severity, timeout=10 if severity == "error" else 4, markup=False)
            self._changed()

        self._after(partial(from_thread, self._app, tell))

    def _review(self, row: Row) -> None:
        def ended(words: str | None) -> None:
            if words:
                self._app.notify(words, markup=False)

        self._app.push_screen(ReviewScreen(row.name, self.actions.reviewing(row.key)), ended)

    # Going elsewhere

    def _leave(self, make: Callable[[], T], then: Callable[[T], object]) -> None:
        """Go elsewhere with what a call gives: what is typed meanwhile was meant for there, and is for no row here."""

        def left(made: T) -> None:
            then(made)
            self._typed.came_not()

        self._wait_for(make, left)

    def _fix(self, row: Row) -> None:
        """Open the files that have conflicts in them; where there are none, go to the worker's terminal."""

        def found(files: list[str]) -> None:
            if files:
                self._outside(partial(self.actions.edit, files))
            else:
                self._go_to(row)

        self._leave(partial(self.actions.conflicted, row.key), found)

    def _go_to(self, row: Row) -> None:
        """Bring the person to a worker's terminal and, outside of tmux, back again."""
        attach = partial(self.actions.attach, row.key)

        def found(switches: bool) -> None:
            if switches:
                self._leave(attach, lambda _: None)
            else:
                self._outside(attach)

        self._leave(partial(self.actions.switches, row.key), found)

    def _outside(self, make: Callable[[], object]) -> None:
        """Hand the terminal to another program and take it back."""
        try:
            with self._app.suspend():
                make()
        except (WoodwindError, SuspendNotSupported) as error:
            complain(self._app, told(error))
        self._app.refresh(layout=True)
        self._after(lambda: None)
