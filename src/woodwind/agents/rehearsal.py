"""The built-in rehearsal agent: it plays a scripted agent, for `ww demo` and for tests."""

import sys
from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent
from woodwind.model.status import Status

_TITLES = {"●": Status.WORKING, "?": Status.ASKING, "✓": Status.READY, "✗": Status.READY, "⊘": Status.READY}


class Rehearsal(Agent):
    """Needs no account and no network."""

    name = "rehearsal"
    command = sys.executable
    args = ("-m", "woodwind.testing.rehearsal")
    pass_env = ("PYTHONPATH", "REHEARSAL_HOOK")
    checked = "1.0"
    detected = False
    headless_args = ()
    headless_flag = "--print"
    plan_args = ("--plan",)
    model_flag = "--model"
    permissions: Mapping[str, Sequence[str]] = {"ask": ("--ask-edits",), "auto": (), "bypass": ()}
    session_args = ("--session-id", "{session}")
    resume_args: Sequence[str] | None = ("--resume", "{session}")
    interrupt = ("C-c",)

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        mark, _, words = title.partition(" ")
        status = _TITLES.get(mark)
        return (status, words.removeprefix("asking: ")) if status else None
