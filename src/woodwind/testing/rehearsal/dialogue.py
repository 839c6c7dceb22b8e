"""Between the keys and the turns: what is being typed, which prompts wait, and the question that is open."""

from __future__ import annotations

import time
from collections import deque

from woodwind.testing.rehearsal.history import new_id
from woodwind.testing.rehearsal.hooks import Hooks
from woodwind.testing.rehearsal.keys import Key
from woodwind.testing.rehearsal.terminal import Leave, Plain, one_line

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SPINNER_SECONDS = 0.2
WORKING_TITLE = "● working"


class Interrupted(Exception):
    """Somebody pressed Ctrl-C while the agent worked."""


class Unanswerable(Exception):
    """A question where nobody is there to answer it."""


class Prompt:
    """One text to work on: its id, and whether its hook was already called."""

    __slots__ = ("announced", "id", "text")

    def __init__(self, text: str) -> None:
        self.id = new_id()
        self.text = text
        self.announced = False

    @property
    def is_command(self) -> bool:
        """Whether the agent itself handles it, without a turn."""
        return self.text.strip() in ("/clear", "/exit")


class Dialogue:
    """The person's side: prompts come out of `queue` in order, answers out of `ask`."""

    def __init__(self, screen: Plain, hooks: Hooks) -> None:
        self.screen = screen
        self.hooks = hooks
        self.queue: deque[Prompt] = deque()
        self.current: Prompt | None = None
        # What keys mean now: "prompt", "working" or "asking".
        self._mode = "working"
        self._draft = ""
        # An answer is typed apart, so that a half-typed prompt never becomes one.
        self._reply_draft = ""
        self._reply: str | None = None
        self._interrupted = False
        self._leave_armed = False
        screen.on_key = self._on_key

    def fire(self, event: str, **facts: object) -> None:
        """Calls the hook for one event of the current turn."""
        self.hooks.fire(event, self.current.id if self.current else None, **facts)

    def begin(self, prompt: Prompt) -> None:
        """Makes a prompt the current one and announces it."""
        self._mode, self.current = "working", prompt
        self.screen.title(WORKING_TITLE)
        self.screen.show(f"› {one_line(prompt.text, 400)}", "dim")
        self._announce(prompt)

    def end(self) -> None:
        """Ends the current turn; a Ctrl-C that came too late for it is forgotten."""
        self._mode, self._interrupted, self.current = "working", False, None
        self.screen.status("")

    def listen(self, title: str) -> Prompt:
        """The next prompt: one that waits already, or what is typed after the title was set to this."""
        if not self.queue:
            self._mode, self._interrupted = "prompt", False
            self.screen.draft(self._draft)
            self.screen.title(title)
        while not self.queue:
            self.screen.wait(None)
        self._mode = "working"
        return self.queue.popleft()

    def check(self) -> None:
        """Raises Interrupted where somebody pressed Ctrl-C; announces prompts that were queued meanwhile."""
        # Like Claude Code, which tells of a queued prompt at once. Not from within another hook's run.
        for prompt in list(self.queue):
            if not self.hooks.busy:
                self._announce(prompt)
        if self._interrupted:
            raise Interrupted

    def work(self, seconds: float | None) -> None:
        """Works visibly for this long, or for ever."""
        start = time.monotonic()
        while True:
            spent = time.monotonic() - start
            left = _SPINNER_SECONDS if seconds is None else min(_SPINNER_SECONDS, seconds - spent)
            if left <= 0:
                break
            frame = _SPINNER[int(spent / _SPINNER_SECONDS) % len(_SPINNER)]
            self.screen.status(f"{frame} Working… {int(spent)}s (Ctrl-C interrupts)")
            self.screen.wait(left)
            self.check()
        self.screen.status("")

    def ask(self, tool: str, question: str, *, choices: str = "", accepted: tuple[str, ...] = ()) -> str:
        """The line that answers the question; where accepted words are given, one of them."""
        if not self.screen.interactive:
            raise Unanswerable(f"nobody is there to answer: {one_line(question, 200)}")
        self.screen.status("")
        self.screen.show(f"? {question}", "yellow")
        if choices:
            self.screen.show(f"  {choices}", "yellow")
        # Keys count as the answer before the hook is called: whoever hears of it may answer at once.
        self._open_reply()
        self.fire("PermissionRequest", tool_name=tool, question=question)
        if self._reply is None:
            self.screen.title(f"? asking: {question}")
        while True:
            while self._reply is None:
                self.check()
                self.screen.wait(None)
            self.check()
            self.screen.show(f"› {one_line(self._reply, 200)}", "dim")
            if not accepted or self._reply.lower() in accepted:
                break
            self.screen.show(f"  not understood; answer one of: {', '.join(accepted)}", "yellow")
            self._open_reply()
        self.screen.draft(self._draft)
        self.screen.title(WORKING_TITLE)
        return self._reply.lower() if accepted else self._reply

    def _open_reply(self) -> None:
        self._mode, self._reply, self._reply_draft = "asking", None, ""
        self.screen.draft("")

    def _announce(self, prompt: Prompt) -> None:
        if not prompt.announced and not prompt.is_command:
            prompt.announced = True
            self.hooks.fire("UserPromptSubmit", prompt.id, prompt=prompt.text)

    def _on_key(self, key: Key) -> None:
        kind, text = key
        if kind == "interrupt":
            self._on_interrupt()
            return
        self._leave_armed = False
        draft = self._reply_draft if self._mode == "asking" else self._draft
        if kind == "enter":
            if draft.strip():
                self._submit(draft)
        elif kind == "end":
            if self._mode == "prompt":
                raise Leave(0, "prompt_input_exit")
        elif kind == "backspace":
            self._set_draft(draft[:-1])
        elif kind == "kill":
            self._set_draft("")
        else:
            self._set_draft(draft + text)

    def _set_draft(self, draft: str) -> None:
        if self._mode == "asking":
            self._reply_draft = draft
        else:
            self._draft = draft
        self.screen.draft(draft)

    def _submit(self, text: str) -> None:
        self._set_draft("")
        if self._mode == "asking":
            self._reply = text.strip()
        else:
            self.queue.append(Prompt(text))
        # From here on keys are for the turn that this starts or continues, even those in the same portion.
        self._mode = "working"

    def _on_interrupt(self) -> None:
        if self._mode != "prompt":
            self._interrupted = True
        elif self._leave_armed:
            raise Leave(0, "prompt_input_exit")
        else:
            self._leave_armed = True
            self._set_draft("")
            self.screen.show("press Ctrl-C again to exit", "dim")
