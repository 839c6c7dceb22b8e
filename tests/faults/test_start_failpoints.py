"""kill -9 while a headless worker is resumed or removed, and while a queued one is started: nothing stays half-done."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, rows
from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, names, rehearse, wait_until

RESUME = [f"resume.{edge}_{step}" for step in ("terminal", "agent") for edge in ("before", "after")]
REMOVE = [f"remove.{edge}_{step}" for step in ("save", "stop", "park") for edge in ("before", "after")]
# Starts who waits, as the daemon does: a process of its own that can be killed.
START_WAITING = """
import os
from woodwind.ops.context import Context
from woodwind.ops.queue import start_waiting
start_waiting(Context("/", os.environ))
"""


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Sandbox, Path]]:
    with Sandbox() as box:
        yield box, make_repo(box.home / "project")


@pytest.mark.parametrize("point", [*RESUME, "resume.after_commit"])
def test_resuming_a_headless_worker(place: tuple[Sandbox, Path], point: str) -> None:
    box, repo = place
    name = point.replace(".", "-").replace("_", "-")
    rehearse(box, repo, "say once", name=name, words=("--headless", "--permissions", "auto"))
    wait_until(box, repo, "exited", name)
    cut = box.ww("resume", name, "-m", "rehearse: say twice", cwd=repo, env={"WOODWIND_FAILPOINT": point})
    assert cut.code == -9, cut
    wait_until(box, repo, "exited", name)
    assert leftovers(box, repo) == []
    if point != "resume.after_commit":
        box.ww("resume", name, "-m", "rehearse: say twice", cwd=repo, check=True)
    done = box.ww("wait", name, "--timeout", "60", "--json", cwd=repo, check=True)
    assert done.json["data"][0]["turn"]["last_words"] == "twice"
    wait_until(box, repo, "exited", name)
    box.ww("rm", name, "--force", "--yes", cwd=repo, check=True)


@pytest.mark.parametrize("point", [*REMOVE, "remove.after_commit"])
def test_removing_a_headless_worker(place: tuple[Sandbox, Path], point: str) -> None:
    box, repo = place
    name = point.replace(".", "-").replace("_", "-")
    rehearse(box, repo, "think 600", name=name, words=("--headless", "--permissions", "auto"))
    wait_until(box, repo, "working", name)
    cut = box.ww("rm", name, "--force", "--yes", cwd=repo, env={"WOODWIND_FAILPOINT": point})
    assert cut.code == -9, cut
    # Before its program is stopped the removal is undone, from there on finished.
    stays = point in ("remove.before_save", "remove.after_save")
    assert (name in names(box, repo)) == stays
    assert leftovers(box, repo) == []
    if stays:
        assert listed(box, repo, name)["status"] == "working"
        box.ww("rm", name, "--force", "--yes", cwd=repo, check=True)
    assert name not in names(box, repo)


@pytest.mark.parametrize("point", [*RESUME, "resume.after_commit"])
def test_starting_a_queued_worker(place: tuple[Sandbox, Path], point: str) -> None:
    box, repo = place
    name = "queued-" + point.replace(".", "-").replace("_", "-")
    limits = {"WOODWIND_LIMITS_WORKERS": "1", "WOODWIND_DAEMON_START": "never"}
    rehearse(box, repo, "think 600", name=f"{name}-first", words=("--permissions", "auto"), env=limits)
    rehearse(box, repo, "say my turn", name=name, words=("--permissions", "auto"), env=limits)
    assert rows(box, "SELECT phase FROM worker WHERE name = ?", name) == [("queued",)]
    box.ww("rm", f"{name}-first", "--force", "--yes", cwd=repo, check=True)
    env = {**limits, "WOODWIND_FAILPOINT": point}
    words = (sys.executable, "-c", START_WAITING)
    assert box.run(*words, cwd=repo, env=env).code == -9
    assert listed(box, repo, name)["phase"] in ("queued", "running")
    assert leftovers(box, repo) == []
    box.run(*words, cwd=repo, env=limits, check=True)
    assert listed(box, repo, name)["phase"] == "running", box.tmux("list-panes", "-a", "-F", "#{@woodwind} #{pane_pid}")
    done = box.ww("wait", name, "--timeout", "60", "--json", cwd=repo, check=True)
    assert done.json["data"][0]["turn"]["last_words"] == "my turn"
    box.ww("rm", name, "--force", "--yes", cwd=repo, check=True)
