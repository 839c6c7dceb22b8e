"""What the daemon sees by itself, and what it cannot lose: kills, a tmux that goes, a store that is replaced."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from woodwind.base.spool import hook_command
from woodwind.testing.daemons import Listener, daemon_status, listening, start_daemon
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker


class Stage:
    """A worker of a quiet program that counts as the rehearsal agent, whose hook the test plays."""

    def __init__(self, box: Sandbox, repo: Path) -> None:
        self.box = box
        self.repo = repo
        still = box.home / "still"
        still.write_text("#!/bin/sh\nexec sleep 86400\n")
        still.chmod(0o755)
        (repo / "woodwind.toml").write_text(f'[new]\nagent = "rehearsal"\n\n[agents.rehearsal]\ncommand = "{still}"\n')
        new_worker(box, repo, "one")
        self.state = Path(box.env["XDG_STATE_HOME"], "woodwind")
        self.worker, nonce, self.pid = self.query("SELECT worker, nonce, pid FROM terminal")[0]
        self.spool = self.state / "workers" / self.worker / "spool"
        self.hook = hook_command(str(self.spool), nonce)

    def query(self, sql: str) -> list[Any]:
        with closing(sqlite3.connect(self.state / "woodwind.db")) as db:
            return db.execute(sql).fetchall()

    def tell(self, kind: str, prompt_id: str, **facts: str) -> None:
        payload = {"hook_event_name": kind, "prompt_id": prompt_id, "session_id": "s", **facts}
        subprocess.run(["sh", "-c", self.hook], input=json.dumps(payload).encode(), check=True)

    def turn(self, prompt: str) -> None:
        self.tell("UserPromptSubmit", prompt, prompt=prompt)
        self.tell("Stop", prompt, last_assistant_message=f"did {prompt}")

    def wait_for_words(self, heard: Listener, *words: str) -> None:
        def said() -> list[str]:
            return [e["data"].get("last_words", "") for e in heard.events if e["kind"] == "turn.done"]

        self.box.wait_for(lambda: [w for w in said() if w.startswith("did ")] == [f"did {w}" for w in words], 60,
                          f"the turns {words}, each once")  # fmt: skip

    def wait_for_live(self, before: dict[str, Any], count: int) -> None:
        def live() -> int:
            return int((daemon_status(self.box) or before)["watching"]["live"])

        self.box.wait_for(lambda: live() == count, 60, f"{count} agents to be watched")

    def wait_for_status(self, heard: Listener, status: str) -> None:
        self.box.wait_for(
            lambda: [e for e in heard.events if e["kind"] == "status.changed" and e["data"]["to"] == status],
            60,
            f"the status {status}",
        )


@pytest.fixture
def stage(sandbox: Sandbox, repo: Path) -> Stage:
    return Stage(sandbox, repo)


def test_what_an_agent_tells_is_heard(sandbox: Sandbox, stage: Stage) -> None:
    stage.wait_for_live(start_daemon(sandbox), 1)
    with listening(sandbox) as heard:
        stage.tell("UserPromptSubmit", "a", prompt="a")
        stage.wait_for_status(heard, "working")
        stage.tell("Stop", "a", last_assistant_message="did a")
        stage.wait_for_words(heard, "a")
        os.kill(stage.pid, signal.SIGKILL)
        stage.wait_for_status(heard, "exited")


def test_what_was_told_while_no_daemon_ran_is_heard_once(sandbox: Sandbox, stage: Stage) -> None:
    start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
        os.kill(start_daemon(sandbox)["pid"], signal.SIGKILL)
        stage.turn("b")
        stage.wait_for_words(heard, "a", "b")


@pytest.mark.parametrize("place", ["observe.before_commit", "observe.after_commit", "observe.after_unlink"])
def test_a_daemon_killed_while_it_takes_a_spool_loses_and_doubles_nothing(
    sandbox: Sandbox, stage: Stage, place: str
) -> None:
    stage.turn("a")
    words = [sys.executable, "-P", "-m", "woodwind.daemon"]
    killed = subprocess.run(words, env={**sandbox.env, "WOODWIND_FAILPOINT": place}, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("b")
        stage.wait_for_words(heard, "a", "b")


def test_the_end_of_tmux_is_seen_and_survived(sandbox: Sandbox, stage: Stage) -> None:
    first = start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
        sandbox.tmux("kill-server")
        stage.wait_for_status(heard, "exited")
        new_worker(sandbox, stage.repo, "two")
        sandbox.wait_for(lambda: heard.kinds().count("worker.created") == 2, 60, "the next worker")
        stage.wait_for_live(first, 1)
    assert start_daemon(sandbox)["pid"] == first["pid"]


def test_a_worker_that_is_removed_is_let_go(sandbox: Sandbox, stage: Stage) -> None:
    first = start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
        sandbox.ww("rm", "one", "--yes", cwd=stage.repo, check=True)
        stage.turn("late")  # an agent that has not noticed
        sandbox.wait_for(lambda: "worker.removed" in heard.kinds(), 60, "its removal")
        sandbox.wait_for(lambda: (daemon_status(sandbox) or {"watching": {}})["watching"] == {
            "workers": 0, "live": 0, "servers": 0, "streams": 0}, 60, "nothing to be watched")  # fmt: skip
        stage.wait_for_words(heard, "a")
    assert start_daemon(sandbox)["pid"] == first["pid"]


def test_a_spool_that_was_deleted_is_watched_again(sandbox: Sandbox, stage: Stage) -> None:
    start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
        sandbox.wait_for(lambda: not list(stage.spool.glob("1_*")), 60, "its files to be taken")
        for leftover in stage.spool.rglob("*"):
            leftover.unlink() if leftover.is_file() else leftover.rmdir()
        stage.spool.rmdir()
        stage.turn("b")  # its hook makes the folder again
        stage.wait_for_words(heard, "a", "b")


def test_a_locked_store_is_waited_for(sandbox: Sandbox, stage: Stage) -> None:
    start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
        with closing(sqlite3.connect(stage.state / "woodwind.db", isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            stage.turn("b")
            assert daemon_status(sandbox)  # it answers meanwhile
            db.execute("ROLLBACK")
        stage.wait_for_words(heard, "a", "b")


def test_a_store_that_was_replaced_is_opened_again(sandbox: Sandbox, stage: Stage) -> None:
    first = start_daemon(sandbox)
    with listening(sandbox) as heard:
        stage.turn("a")
        stage.wait_for_words(heard, "a")
    aside = sandbox.root / "aside"
    aside.mkdir()
    for part in stage.state.glob("woodwind.db*"):
        if part.name in ("woodwind.db", "woodwind.db-wal", "woodwind.db-shm"):
            part.rename(aside / part.name)
    sandbox.ww("ls", cwd=stage.repo, check=True)  # rebuilds it
    with listening(sandbox) as heard:
        new_worker(sandbox, stage.repo, "two")
        sandbox.wait_for(lambda: "worker.created" in heard.kinds(), 60, "an event of the new store")
        sandbox.wait_for(lambda: (daemon_status(sandbox) or first)["watching"]["workers"] == 2, 60, "both workers")
    assert start_daemon(sandbox)["pid"] == first["pid"]
