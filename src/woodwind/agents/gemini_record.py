"""What Gemini CLI writes down of its conversations, by worktree: prompts, answers, errors. Seen with 0.61.0.

One file per conversation, a line per message; a message is written again when its tools have run. After a cancelled
request all messages are written once more, as new ones, and then set at once: those lines tell nothing new. A message
without tools ends a turn only when the title says so, too.
"""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from woodwind.model.reading import Reading, Recorded, Tells

_MOST = 4 << 20  # of a file, from its end
_LONGEST = 20_000
_CONTEXT = "<session_context>"  # how the first message of a conversation begins
_CANCELLED = "Request cancelled."


def recorded(environ: Mapping[str, str], folder: str, since: int) -> Recorded | None:
    """What the conversations in a worktree tell since a time in milliseconds; None where none can be read."""
    home = os.path.join(environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or "/", ".gemini")
    try:
        with open(os.path.join(home, "projects.json"), "rb") as file:
            name = _map(_map(json.load(file)).get("projects")).get(os.path.realpath(folder))
        if not isinstance(name, str) or os.path.basename(name) != name:
            return None
        chats = os.path.join(home, "tmp", name, "chats")
        files = [entry.path for entry in os.scandir(chats) if entry.stat().st_mtime * 1000 >= since]
    except (OSError, ValueError):
        return None
    return _summed([message for path in sorted(files, key=_modified) for message in _messages(path, since)])


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0


def _messages(path: str, since: int) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages of one conversation since a time, in order: the conversation's id, the message as it stands last."""
    session, latest = "", dict[str, Mapping[str, Any]]()
    repeated = False
    for line in _lines(path):
        if line.get("kind", "main") != "main":
            return []  # that of an agent which the agent started itself
        session = _text(line.get("sessionId")) or session
        if "messages" in _map(line.get("$set")):
            repeated = False
        elif (key := _text(line.get("id"))) and _time(line) >= since:
            repeated = repeated or _words(line.get("content")).startswith(_CONTEXT)
            if not repeated:
                latest[key] = line
    return [(session, message) for message in latest.values()]


def _lines(path: str) -> Iterator[Mapping[str, Any]]:
    try:
        with open(path, "rb") as file:
            first = file.readline(_MOST)
            file.seek(max(len(first), os.fstat(file.fileno()).st_size - _MOST))
            for line in (first, *file):
                try:
                    yield _map(json.loads(line))
                except ValueError:
                    continue  # cut off at one of its ends
    except OSError:
        return


def _summed(messages: list[tuple[str, Mapping[str, Any]]]) -> Recorded:
    prompts: list[str] = []
    end: Reading | None = None
    session = ""
    for conversation, message in messages:
        session = conversation or session
        kind, words, at = message.get("type"), _words(message.get("content")), _time(message)
        if kind == "user":
            end = None
            prompts += [words] if words else []
        elif kind == "gemini":
            over = words and not message.get("toolCalls")
            end = Reading(Tells.DONE, at, "record", text=words) if over else None
        elif kind == "error":
            end = Reading(Tells.FAILED, at, "record", text=words)
        elif kind == "info" and words == _CANCELLED:
            end = Reading(Tells.INTERRUPTED, at, "record")
    return Recorded(tuple(prompts), end if prompts else None, session)


def _words(content: object) -> str:
    """The text of a message; "" for what tools returned."""
    if isinstance(content, str):
        return content[:_LONGEST]
    parts = content if isinstance(content, list) else []
    return "".join(_text(_map(part).get("text")) for part in parts)[:_LONGEST]


def _time(message: object) -> int:
    try:
        return int(datetime.fromisoformat(_text(_map(message).get("timestamp"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return -1


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
