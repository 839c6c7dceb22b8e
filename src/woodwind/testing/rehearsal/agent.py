"""The agent itself: takes one prompt after the other, and says how it fares."""

from __future__ import annotations

import os
from collections.abc import Callable

from woodwind.testing.rehearsal.dialogue import Dialogue, Interrupted, Prompt, Unanswerable
from woodwind.testing.rehearsal.history import History, HistoryError, new_id
from woodwind.testing.rehearsal.hooks import Hooks
from woodwind.testing.rehearsal.options import Options
from woodwind.testing.rehearsal.script import ScriptError
from woodwind.testing.rehearsal.terminal import Leave, Plain
from woodwind.testing.rehearsal.turn import Performer
from woodwind.testing.rehearsal.worktree import ActionError

_TITLES = {"done": "✓ ready", "failed": "✗ failed", "interrupted": "⊘ interrupted"}
_STATUSES = {"done": 0, "failed": 1, "interrupted": 130}


class Agent:
    """One running agent, from its greeting to its exit status."""

    def __init__(self, screen: Plain, options: Options, history: History) -> None:
        self._screen = screen
        self._options = options
        self._history = history
        self._dialogue = Dialogue(screen, Hooks(screen, history.session_id, options.hook))
        self._performer = Performer(
            self._dialogue, plan=options.plan, ask_edits=options.ask_edits, allowed=options.allow
        )
        self._outcome = "done"

    def run(self) -> int:
        """The exit status, after everything was done or the agent was told to end."""
        try:
            self._greet()
            if self._options.prompt:
                self._dialogue.queue.append(Prompt(self._options.prompt))
            if self._screen.interactive:
                while True:
                    self._take(self._dialogue.listen(_TITLES[self._outcome]))
            self._take(self._dialogue.queue.popleft())
            end = Leave(_STATUSES[self._outcome])
        except Leave as leave:
            end = leave
        self._screen.leaving()
        try:
            self._dialogue.fire("SessionEnd", reason=end.reason)
        except Leave:
            # The terminal went away meanwhile; there is nothing left to end.
            pass
        return end.status

    def _greet(self) -> None:
        options = self._options
        self._screen.show("Rehearsal agent", "bold")
        self._screen.show(f"  folder: {os.getcwd()}", "dim")
        if worker := os.environ.get("WOODWIND_WORKER"):
            self._screen.show(f"  worker: {worker}", "dim")
        if options.model:
            self._screen.show(f"  model: {options.model}", "dim")
        if options.plan:
            self._screen.show("  plan mode: nothing is edited", "dim")
        if options.resume:
            self._screen.show(f"  resumed: this session had {_turns(len(self._history))}", "dim")
        self._keep(self._history.save)
        self._dialogue.fire("SessionStart", source="resume" if options.resume else "startup")

    def _take(self, prompt: Prompt) -> None:
        if prompt.text.strip() == "/exit":
            raise Leave(0, "prompt_input_exit")
        if prompt.text.strip() == "/clear":
            self._clear()
        else:
            self._turn(prompt)
        self._dialogue.end()

    def _turn(self, prompt: Prompt) -> None:
        self._dialogue.begin(prompt)
        self._keep(lambda: self._history.begin(prompt.id, prompt.text))
        try:
            last = self._performer.perform(prompt.text)
            self._outcome = "done"
            self._dialogue.fire("Stop", last_assistant_message=last)
        except (ActionError, ScriptError, Unanswerable, OSError, UnicodeError) as error:
            self._outcome = "failed"
            self._screen.status("")
            self._screen.show(f"✗ {error}", "red")
            self._dialogue.fire("StopFailure", error=str(error))
        except Interrupted:
            # No hook: real agents fire none here, and a supervisor has to cope.
            self._outcome = "interrupted"
            self._screen.status("")
            self._screen.show("⊘ interrupted", "yellow")
        self._keep(lambda: self._history.end(self._outcome))

    def _clear(self) -> None:
        self._dialogue.fire("SessionEnd", reason="clear")
        forgotten = len(self._history)
        self._history = History(new_id())
        self._dialogue.hooks.session_id = self._history.session_id
        self._performer.answer, self._outcome = None, "done"
        self._keep(self._history.save)
        self._screen.show(f"cleared: {_turns(forgotten)} forgotten, now session {self._history.session_id}", "dim")
        self._dialogue.fire("SessionStart", source="clear")

    def _keep(self, save: Callable[[], None]) -> None:
        try:
            save()
        except HistoryError as error:
            # The history only serves --resume: the work goes on, and the person is told.
            self._screen.show(str(error), "red")


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"
