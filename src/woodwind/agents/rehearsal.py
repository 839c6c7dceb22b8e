"""The built-in rehearsal agent: it plays a scripted agent, for `ww demo` and for tests."""

import sys
from collections.abc import Sequence

from woodwind.agents.base import Agent
from woodwind.model.status import Status

_TITLES = {"●": Status.WORKING, "?": Status.ASKING, "✓": Status.READY, "✗": Status.READY, "⊘": Status.READY}


class Rehearsal(Agent):
    """Needs no account and no network."""

    name = "rehearsal"
    command = sys.executable
    args = ("-m", "woodwind.testing.rehearsal")
    plan_args = ("--plan",)
    pass_env = ("PYTHONPATH", "REHEARSAL_HOOK")
    checked = "1.0"
    detected = False

    def session_args(self, session: str) -> Sequence[str]:
        return ("--session-id", session) if session else ()

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        mark, _, words = title.partition(" ")
        status = _TITLES.get(mark)
        return (status, words.removeprefix("asking: ")) if status else None
