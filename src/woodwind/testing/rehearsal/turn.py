"""One turn: the text's script, done action by action."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

from woodwind.testing.rehearsal import process, script, worktree
from woodwind.testing.rehearsal.dialogue import Dialogue
from woodwind.testing.rehearsal.script import Action
from woodwind.testing.rehearsal.terminal import Leave, one_line
from woodwind.testing.rehearsal.worktree import ActionError

_FLOOD_LINE = b"flood " + b"0123456789" * 7 + b"\n"
_FLOOD_PORTION = 200
_ANSWERS = {"1": "Yes", "2": "No"}
_YES = ("y", "yes", "1")
_NO = ("n", "no", "2")
_ALWAYS = ("a", "always")


class Denied(Exception):
    """A permission that was not given: the rest of the turn is skipped."""


class Performer:
    """Does scripts, and remembers between turns what was answered and allowed."""

    def __init__(self, dialogue: Dialogue, *, plan: bool, ask_edits: bool, allowed: Sequence[str] = ()) -> None:
        self.answer: str | None = None
        self._dialogue = dialogue
        self._screen = dialogue.screen
        self._plan = plan
        self._ask_edits = ask_edits
        self._allowed = {*allowed}
        self._last = ""

    def perform(self, text: str) -> str:
        """The last thing that the agent said, after the whole script was done or a permission refused."""
        actions = script.parse(text)
        if not actions and worktree.BRIEF in text:
            # The one-line pointer: the real text is in the file.
            text = worktree.brief(Path.cwd()) or text
            actions = script.parse(text)
        self._last = ""
        try:
            for action in actions:
                self._dialogue.check()
                self._do(action.with_answer(self.answer))
            self._dialogue.check()
        except Denied as denied:
            self._say(f"not allowed: {denied}; the rest of the turn is skipped")
        if not actions:
            first = next((line for line in text.splitlines() if line.strip()), "")
            self._say(f"I read “{one_line(first, 200)}”. It has no rehearse: lines, so I changed nothing.")
        elif not self._last:
            self._say("Done.")
        return self._last

    def _do(self, action: Action) -> None:
        verb, text = action.verb, action.text
        if verb in script.EDITING_VERBS:
            self._use_tool(action)
        elif verb == "say":
            self._say(text)
        elif verb == "think":
            self._dialogue.work(action.amount)
        elif verb == "hang":
            self._dialogue.work(None)
        elif verb == "ask":
            reply = self._dialogue.ask("ask", text, choices="1. Yes  2. No")
            self.answer = _ANSWERS.get(reply, reply)
        elif verb == "permit":
            if self._dialogue.ask("permit", f"Allow {text}? (y/n)", accepted=(*_YES, *_NO)) in _NO:
                raise Denied(text)
        elif verb == "flood":
            self._flood(int(action.amount))
        elif verb == "fail":
            raise ActionError(text)
        elif verb == "exit":
            raise Leave(int(action.amount))
        elif verb == "die":
            os.kill(os.getpid(), signal.SIGKILL)

    def _say(self, text: str) -> None:
        self._last = text
        self._screen.show(text)

    def _use_tool(self, action: Action) -> None:
        what, facts = _described(action)
        if self._plan:
            self._say(f"plan mode: I would {what}")
            return
        self._dialogue.fire("PreToolUse", tool_name=action.verb, tool_input=facts)
        if self._ask_edits and action.verb not in self._allowed:
            question = f"Allow {what}? (y/n/a for always)"
            reply = self._dialogue.ask(action.verb, question, accepted=(*_YES, *_NO, *_ALWAYS))
            if reply in _NO:
                raise Denied(what)
            self._ask_edits = reply not in _ALWAYS
        if action.verb == "run":
            self._run(action.argv)
        elif action.verb == "commit":
            self._screen.show(f"● {worktree.commit(action.text, self._capture)}")
        else:
            self._screen.show(f"● {worktree.edit(action)}")
        self._dialogue.fire("PostToolUse", tool_name=action.verb, tool_input=facts)

    def _run(self, argv: Sequence[str]) -> None:
        self._screen.show(f"$ {shlex.join(argv)}", "dim")
        self._screen.status("● running a command (Ctrl-C interrupts)")
        pending = bytearray()

        def output(chunk: bytes) -> None:
            pending.extend(chunk)
            whole = pending.rfind(b"\n") + 1
            if whole:
                self._screen.show(pending[: whole - 1].decode("utf-8", "replace"))
                del pending[:whole]

        try:
            status = process.run(self._screen, argv, output=output, tick=self._dialogue.check)
        except (FileNotFoundError, PermissionError) as error:
            # What a shell would say, and the turn goes on as an agent's would.
            self._screen.show(f"{argv[0]}: {error.strerror}")
            status = 127
        if pending:
            self._screen.show(pending.decode("utf-8", "replace"))
        self._screen.status("")
        self._screen.show(f"exit status {status}", "dim")

    def _capture(self, argv: Sequence[str]) -> tuple[int | None, str]:
        pending = bytearray()
        status = process.run(self._screen, argv, output=pending.extend, tick=self._dialogue.check)
        return status, pending.decode("utf-8", "replace")

    def _flood(self, size: int) -> None:
        portion = _FLOOD_LINE * _FLOOD_PORTION
        while size > 0:
            data = portion if size >= len(portion) else (portion[: size - 1] + b"\n")
            self._screen.raw(data)
            size -= len(data)
            self._screen.wait(0)
            self._dialogue.check()


def _described(action: Action) -> tuple[str, dict[str, object]]:
    if action.verb == "run":
        return f"run {one_line(shlex.join(action.argv), 60)}", {"command": shlex.join(action.argv)}
    if action.verb == "commit":
        return f"commit {one_line(action.text, 60)}", {"message": action.text}
    facts: dict[str, object] = {"path": action.path}
    if action.verb == "replace":
        facts.update(old=action.text, new=action.new)
    elif action.verb != "delete":
        facts.update(text=action.text)
    return f"{action.verb} {action.path}", facts
