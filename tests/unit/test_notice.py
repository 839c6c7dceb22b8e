"""What people are told of events."""

from typing import Any

import pytest

from woodwind.model.notice import KINDS, Notice, notice_of


@pytest.mark.parametrize("kind, data, told", [
    ("status.changed", {"to": "asking", "detail": "Run ls?"}, ("asking", "one needs you: Run ls?")),
    ("status.changed", {"to": "asking"}, ("asking", "one needs you")),
    ("status.changed", {"to": "exited", "from": "ready", "detail": "with status 1"},
     ("failed", "one has exited: with status 1")),
    ("status.changed", {"to": "exited", "from": "ready", "detail": "with signal 11"},
     ("failed", "one has exited: with signal 11")),
    ("status.changed", {"to": "exited", "from": "ready", "detail": "with signal 1"},
     ("exited", "one has exited: with signal 1")),
    ("status.changed", {"to": "exited", "from": "working", "detail": "with status 1"},
     ("exited", "one has exited: with status 1")),
    ("status.changed", {"to": "exited", "from": "ready", "detail": "with status 0"},
     ("exited", "one has exited: with status 0")),
    ("status.changed", {"to": "exited", "from": "ready", "detail": "its terminal is gone"},
     ("exited", "one has exited: its terminal is gone")),
    ("worker.not_started", {"error": "no such agent"}, ("failed", "one could not be started: no such agent")),
    ("run.finished", {"run": "r1", "title": "Epic 7"}, ("done", "a run has finished: Epic 7")),
    ("run.finished", {"run": "r1", "title": ""}, ("done", "a run has finished: r1")),
    ("status.changed", {"to": "working", "detail": "x"}, None),
    ("status.changed", {}, None),
    ("turn.done", {"turn": "t", "last_words": "All\ngreen"}, ("done", "one is done: All")),
    ("turn.done", {"last_words": 7}, ("done", "one is done")),
    ("turn.failed", {"error": "\x1b[31mno\x1b[0m"}, ("failed", "one failed: no")),
    ("turn.submitted", {"text": "x"}, None),
    ("landing.failed", {"why": "conflict"}, ("failed", "one could not be landed: conflict")),
    ("queue.dropped", {"why": "red"}, ("failed", "one left the landing queue: red")),
    ("worker.created", {}, None),
])  # fmt: skip
def test_the_words(kind: str, data: dict[str, Any], told: tuple[str, str] | None) -> None:
    assert notice_of(kind, data, "one") == (Notice(*told) if told else None)
    assert told is None or told[0] in KINDS
