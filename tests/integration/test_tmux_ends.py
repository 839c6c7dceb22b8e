"""How a program in a terminal ended is told, whenever tmux comes to know it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from woodwind.base.processes import start_time
from woodwind.muxes.tmux import server
from woodwind.ops import observe
from woodwind.ops.context import Context
from woodwind.store import listing
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import panes_of, rehearse, wait_until

Ended = Callable[[int], str]


@pytest.fixture
def worker(sandbox: Sandbox, repo: Path) -> str:
    """A worker whose terminal is closed, and whose program runs on until there is a file `go`."""
    program = sandbox.home / "slow-to-end"
    end = f"until [ -e {sandbox.home / 'go'} ]; do sleep 0.05; done\nexit 7\n"
    program.write_text(f"#!/bin/sh\ntrap '' HUP\nexec </dev/null >/dev/null 2>&1\n{end}")
    program.chmod(0o755)
    (repo / "woodwind.toml").write_text(f'[new]\nagent = "rehearsal"\n[agents.rehearsal]\ncommand = "{program}"\n')
    made = rehearse(sandbox, repo)
    [pane] = panes_of(sandbox, made["id"])
    sandbox.wait_for(lambda: sandbox.fact(pane, "pane_dead") == "1", what="the terminal to be closed")
    return str(made["id"])


@pytest.fixture
def ends_first(sandbox: Sandbox) -> Ended:
    """A look at a process, before which the program has ended and tmux has collected it."""

    def look(pid: int) -> str:
        (sandbox.home / "go").touch()
        sandbox.wait_for(lambda: not start_time(pid), what="tmux to collect the program")
        return start_time(pid)

    return look


def test_one_that_is_collected_while_it_is_looked_for_is_told_with_its_status(
    sandbox: Sandbox, worker: str, ends_first: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    mux = server.Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    [before] = mux.panes(worker)
    assert (before.dead, before.exit_status, before.uncollected) == (True, "", True)
    monkeypatch.setattr(server, "start_time", ends_first)
    [after] = mux.panes(worker)
    assert (after.dead, after.exit_status, after.uncollected) == (True, "status 7", False)


def test_one_that_has_ended_since_it_was_listed_has_not_ended_in_an_unknown_way(
    sandbox: Sandbox, repo: Path, worker: str, ends_first: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    ctx = Context(str(repo), sandbox.env)
    try:
        rows = listing.rows(ctx.store)
        monkeypatch.setattr(observe, "start_time", ends_first)
        sight = observe.look(ctx, rows)[worker]
        assert (sight.verdict.status, sight.turn and sight.turn.state) == ("unknown", "running")
    finally:
        ctx.close()
    entry = wait_until(sandbox, repo, "exited")
    assert entry["detail"] == "with status 7"
    assert "status 7" in entry["turn"]["why"]
