"""Notices: each told once, whoever is killed, and never to somebody who is looking already."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.daemons import start_daemon
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker

TICK = """
import os
from woodwind.daemon.keepers import Notices
from woodwind.ops.context import Context
ctx = Context("/", os.environ, say=print)
Notices().tick(ctx)
ctx.close()
"""
HAPPEN = """
import json, os, sys
from woodwind.ops.context import Context
from woodwind.store import events
ctx = Context("/", os.environ)
row = ctx.store.db.execute("SELECT id, project FROM worker").fetchone()
with ctx.store.transaction() as db:
    events.append(db, worker=row[0], project=row[1], kind=sys.argv[1], data=json.loads(sys.argv[2]))
ctx.close()
"""


class Mailbox:
    """A worker, and the file that the user's command writes each message to."""

    def __init__(self, box: Sandbox, repo: Path) -> None:
        self.box = box
        self.file = box.root / "mail"
        self.env = {"WOODWIND_NOTIFY_COMMAND": f"cat >> {self.file}"}
        new_worker(box, repo, "one")
        self.tick()  # from now on

    def happen(self, kind: str, **data: Any) -> None:
        self.box.run(sys.executable, "-c", HAPPEN, kind, json.dumps(data), check=True)

    def tick(self, failpoint: str = "", **env: str) -> int:
        whole = {**self.env, **env, **({"WOODWIND_FAILPOINT": failpoint} if failpoint else {})}
        return self.box.run(sys.executable, "-c", TICK, env=whole).code

    @property
    def texts(self) -> list[str]:
        if not self.file.exists():
            return []
        return [json.loads(line)["text"] for line in self.file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def mailbox(sandbox: Sandbox, repo: Path) -> Mailbox:
    return Mailbox(sandbox, repo)


def test_a_command_gets_what_happened_as_json(mailbox: Mailbox) -> None:
    mailbox.happen("status.changed", **{"from": "working", "to": "asking", "detail": "Run `rm -rf $HOME`?"})
    mailbox.happen("turn.submitted", text="not for people")
    mailbox.happen("turn.done", turn="t1", last_words="All green")
    assert mailbox.tick() == 0
    assert mailbox.texts == ["one needs you: Run `rm -rf $HOME`?", "one is done: All green"]
    first = json.loads(mailbox.file.read_text().splitlines()[0])
    assert (first["kind"], first["name"], first["project_name"]) == ("asking", "one", "project")
    assert first["id"]
    mailbox.tick()
    assert len(mailbox.texts) == 2


@pytest.mark.parametrize("place", ["after_take", "before_hand_over", "after_hand_over", "after_mark"])
def test_each_is_told_once_wherever_the_daemon_is_killed(mailbox: Mailbox, place: str) -> None:
    mailbox.happen("turn.done", turn="t1", last_words="first")
    mailbox.happen("turn.failed", turn="t2", error="second")
    assert mailbox.tick(f"notify.{place}") == -9
    for _ in range(2):
        assert mailbox.tick() == 0
    assert mailbox.texts == ["one is done: first", "one failed: second"]
    marks = Path(mailbox.box.env["XDG_STATE_HOME"], "woodwind", "woodwind.db.outbox")
    assert list(marks.iterdir()) == []


def test_what_is_not_wanted_is_not_told(mailbox: Mailbox) -> None:
    mailbox.happen("turn.done", last_words="x")
    mailbox.tick(WOODWIND_NOTIFY_EVENTS="asking, failed")
    mailbox.happen("turn.done", last_words="y")
    mailbox.tick(WOODWIND_NOTIFY_ON="false")
    mailbox.tick()
    assert mailbox.texts == []


def test_a_command_that_fails_is_not_repeated(mailbox: Mailbox) -> None:
    mailbox.happen("turn.done", last_words="x")
    mailbox.tick(WOODWIND_NOTIFY_COMMAND=f"cat >> {mailbox.file}; exit 3")
    mailbox.tick()
    assert mailbox.texts == ["one is done: x"]


def test_people_at_tmux_are_told_and_nothing_in_it_is_expanded(sandbox: Sandbox, mailbox: Mailbox) -> None:
    sandbox.user_server()
    inner = "tmux -L woodwind -f /dev/null attach-session -t =project-one:"
    shell = sandbox.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", inner, server="user")
    sandbox.wait_for(lambda: sandbox.tmux("list-clients"), 60, "somebody to attach")
    mailbox.happen("turn.failed", error="100%H #(touch /tmp/never) #{pid}")
    mailbox.tick(WOODWIND_NOTIFY_QUIET="false")
    assert "one failed: 100%H #(touch /tmp/never) #{pid}" in sandbox.wait_for(
        lambda: [line for line in sandbox.screen(shell, server="user").splitlines() if "failed" in line], 60, "it"
    )[0]  # fmt: skip

    mailbox.happen("turn.done", last_words="seen already")
    mailbox.tick()
    assert mailbox.texts == ["one failed: 100%H #(touch /tmp/never) #{pid}"]


def test_the_desktop_is_told_by_its_own_program(sandbox: Sandbox, mailbox: Mailbox) -> None:
    tools = sandbox.root / "tools"
    tools.mkdir()
    (tools / "notify-send").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {sandbox.root}/desktop\n')
    (tools / "notify-send").chmod(0o755)
    mailbox.happen("status.changed", to="asking", detail="-x; $(id)")
    mailbox.tick(PATH=f"{tools}:{sandbox.env['PATH']}")
    shown = (sandbox.root / "desktop").read_text().splitlines()
    assert shown == ["--app-name=Woodwind", "--urgency=critical", "--", "Woodwind: project", "one needs you: -x; $(id)"]


def test_the_daemon_does_it_by_itself(sandbox: Sandbox, mailbox: Mailbox) -> None:
    start_daemon(sandbox, **mailbox.env)
    mailbox.happen("turn.done", last_words="x")
    sandbox.wait_for(lambda: mailbox.texts == ["one is done: x"], 60, "the message")
