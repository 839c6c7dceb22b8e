"""The rehearsal script language: `rehearse: ACTION …` lines in a text become a list of actions.

One action per line. TEXT, OLD and NEW take the escapes \\n, \\t and \\\\; a PATH with spaces is quoted.

    say TEXT                    think SECONDS           write PATH TEXT       append PATH TEXT
    delete PATH                 replace PATH OLD => NEW run COMMAND…          commit MESSAGE
    ask QUESTION                permit WHAT             flood BYTES           fail MESSAGE
    exit STATUS                 die                     hang

Pure: nothing here reads or changes anything. Plain classes, because importing dataclasses or typing would
be a third of the agent's start-up time.
"""

from __future__ import annotations

import math
import re
import shlex

# A quote mark, a list mark or a number may stand before the word: briefs quote tickets and list steps.
_LINE = re.compile(r"^(?:[\s>*+-]|\d+[.)]\s)*rehearse:(?:[ \t]+(.*))?$")
_ESCAPE = re.compile(r"\\([nt\\])")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}

TEXT_VERBS = ("say", "commit", "ask", "permit", "fail")
FILE_VERBS = ("write", "append", "delete", "replace")
BARE_VERBS = ("die", "hang")
VERBS = (*TEXT_VERBS, *FILE_VERBS, *BARE_VERBS, "think", "flood", "exit", "run")
# What changes the worktree, or may: reported as a tool use, refused in plan mode, asked about if so started.
EDITING_VERBS = (*FILE_VERBS, "run", "commit")


class ScriptError(Exception):
    """A script line that cannot be understood; the message says which and why."""


class Action:
    """One step of a script; only the fields that its verb uses are set."""

    __slots__ = ("amount", "argv", "new", "path", "text", "verb")

    def __init__(
        self,
        verb: str,
        *,
        path: str = "",
        text: str = "",
        new: str = "",
        argv: tuple[str, ...] = (),
        amount: float = 0,
    ) -> None:
        self.verb = verb
        self.path = path
        self.text = text
        self.new = new
        self.argv = argv
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        """Whether both would do the same."""
        if not isinstance(other, Action):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The action with the fields that are set, for test failures."""
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__slots__ if getattr(self, name))
        return f"Action({', '.join(shown)})"

    def with_answer(self, answer: str | None) -> Action:
        """The same action with `{answer}` filled in; unchanged where nothing was answered yet.

        Done after parsing, so that an answer can never become another path, word or action.
        """
        if answer is None:
            return self
        return Action(
            self.verb,
            path=self.path.replace("{answer}", answer),
            text=self.text.replace("{answer}", answer),
            new=self.new.replace("{answer}", answer),
            argv=tuple(word.replace("{answer}", answer) for word in self.argv),
            amount=self.amount,
        )


def parse(text: str) -> list[Action]:
    """The actions of every script line in a text, in order; empty where it has none."""
    actions = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            continue
        try:
            actions.append(_action((match[1] or "").strip()))
        except ScriptError as error:
            raise ScriptError(f"line {number}: {error}") from None
    return actions


def _action(source: str) -> Action:
    verb, _, rest = source.partition(" ")
    rest = rest.strip()
    if verb in TEXT_VERBS:
        return Action(verb, text=_unescape(_needed(verb, "a text", rest)))
    if verb in BARE_VERBS:
        if rest:
            raise ScriptError(f"{verb} takes nothing after it, but got {rest!r}")
        return Action(verb)
    if verb in FILE_VERBS:
        return _file_action(verb, rest)
    if verb == "run":
        return Action(verb, argv=_words(rest))
    if verb == "think":
        return Action(verb, amount=_seconds(rest))
    if verb == "flood":
        return Action(verb, amount=_whole(verb, rest, 1 << 40))
    if verb == "exit":
        return Action(verb, amount=_whole(verb, rest, 255))
    raise ScriptError(f"unknown action {verb!r}; the actions are {', '.join(sorted(VERBS))}")


def _file_action(verb: str, rest: str) -> Action:
    path, text = _path(_needed(verb, "a path", rest))
    if verb == "delete":
        if text:
            raise ScriptError(f"delete takes one path (quote one that has spaces), but got {rest!r}")
        return Action(verb, path=path)
    if verb != "replace":
        return Action(verb, path=path, text=_unescape(text))
    # An empty NEW leaves "=>" at the end, where the line's trailing space is already gone.
    old, arrow, new = f"{text} ".partition(" => ")
    if not arrow or not old.strip():
        raise ScriptError(f"replace needs PATH OLD => NEW, but got {rest!r}")
    return Action(verb, path=path, text=_unescape(old), new=_unescape(new[:-1]))


def _path(rest: str) -> tuple[str, str]:
    if rest[0] in "\"'":
        path, quote, text = rest[1:].partition(rest[0])
        if not quote or not path:
            raise ScriptError(f"the quoted path does not end: {rest!r}")
        return path, text.strip()
    path, _, text = rest.partition(" ")
    return path, text.strip()


def _words(rest: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(_needed("run", "a command", rest)))
    except ValueError as error:
        raise ScriptError(f"run cannot be split into words ({error}): {rest!r}") from None


def _seconds(rest: str) -> float:
    try:
        seconds = float(rest)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise ScriptError(f"think needs a number of seconds, but got {rest!r}")
    return seconds


def _whole(verb: str, rest: str, highest: int) -> int:
    if not (rest.isascii() and rest.isdigit()) or int(rest) > highest:
        raise ScriptError(f"{verb} needs a whole number from 0 to {highest}, but got {rest!r}")
    return int(rest)


def _needed(verb: str, what: str, rest: str) -> str:
    if not rest:
        raise ScriptError(f"{verb} needs {what} after it")
    return rest


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], text)
