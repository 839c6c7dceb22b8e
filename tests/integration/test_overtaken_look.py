"""A look at a worker that is overtaken by what happens to it: nothing old is told after what is new."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from woodwind.base import paths, spool
from woodwind.ops import observe
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.panes import screens_of
from woodwind.ops.projects import current
from woodwind.ops.wait import wait
from woodwind.store import events, listing
from woodwind.store.listing import Listed
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, rehearse, wait_until


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The surroundings of a call, with a worker that is known to be at its prompt."""
    rehearse(sandbox, repo, "say Done.")
    wait_until(sandbox, repo, "ready")
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    ctx = Context(str(repo), sandbox.env)
    yield ctx
    ctx.close()


def row_of(ctx: Context) -> Listed:
    [row] = listing.rows(ctx.store)
    return row


def tell(ctx: Context, event: str) -> None:
    """Let the agent tell something of a second turn by its hook."""
    row = row_of(ctx)
    payload = {"hook_event_name": event, "prompt_id": "second", "prompt": "Go on", "last_assistant_message": "Went on."}
    command = spool.hook_command(paths.spool_dir(row.id), row.nonce)
    subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), check=True)


def while_looking(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen in the middle of the next look, when what is written down has been read."""

    def meanwhile(*words: Any) -> dict[str, str]:
        monkeypatch.setattr(observe, "screens_of", screens_of)
        happens()
        return screens_of(*words)

    monkeypatch.setattr(observe, "screens_of", meanwhile)


def announced(ctx: Context) -> list[str]:
    return [event.data["to"] for event in events.since(ctx.store, 0) if event.kind == "status.changed"]


def test_the_end_of_a_turn_that_another_took_in(
    ctx: Context, sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = announced(ctx)

    def ends() -> None:
        tell(ctx, "Stop")
        assert listed(sandbox, repo)["turn"]["last_words"] == "Went on."

    tell(ctx, "UserPromptSubmit")
    while_looking(monkeypatch, ends)
    row = row_of(ctx)
    sight = observe.look(ctx, [row])[row.id]
    assert (sight.verdict.status, sight.turn and sight.turn.state) == ("ready", "done")
    assert announced(ctx) == before


def test_a_status_and_the_turn_that_it_belongs_to(
    ctx: Context, sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(ctx, "UserPromptSubmit")
    assert listed(sandbox, repo)["status"] == "working"

    def ends() -> None:
        tell(ctx, "Stop")
        assert listed(sandbox, repo)["status"] == "ready"

    while_looking(monkeypatch, ends)
    [entry] = wait(ctx, [find_worker(ctx, current(ctx), "worker-one")], timeout=60)
    assert (entry["status"], entry["turn"]["state"]) == ("ready", "done")


def test_an_agent_that_was_started_again(
    ctx: Context, sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_of(ctx)
    os.kill(row.pid, signal.SIGKILL)
    dead = ("list-panes", "-a", "-f", "#{pane_dead}")
    sandbox.wait_for(lambda: sandbox.tmux(*dead), what="the end of the agent")
    while_looking(monkeypatch, lambda: sandbox.ww("resume", "worker-one", cwd=repo, check=True))
    sight = observe.look(ctx, [row])[row.id]
    assert sight.verdict.status != "exited"
    assert announced(ctx)[-1] == sight.verdict.status
