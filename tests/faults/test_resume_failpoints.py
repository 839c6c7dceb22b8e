"""kill -9, and a full disk, at every failpoint of `ww resume`: nothing is left behind, and the next one works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, rows
from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, panes_of, rehearse, wait_until

POINTS = [f"resume.{edge}_{step}" for step in ("terminal", "agent") for edge in ("before", "after")]


class Stage:
    """A worker that is ended and resumed again and again."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.repo = make_repo(box.home / "project")
        self.worker: str = rehearse(box, self.repo)["id"]
        wait_until(box, self.repo, "ready")

    def end(self, *, pane: bool) -> None:
        """End its agent, and its terminal with it or not."""
        [found] = panes_of(self.box, self.worker)
        if pane:
            self.box.tmux("kill-pane", "-t", found)
        else:
            self.box.type_in(found, "/exit")
        wait_until(self.box, self.repo, "exited")

    def processes(self) -> list[str]:
        """The rehearsal agents that run in this sandbox, whoever started them."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                command = (folder / "cmdline").read_bytes()
                if b"woodwind.testing.rehearsal" in command and (folder / "cwd").readlink().is_relative_to(
                    self.box.root
                ):
                    found.append(folder.name)
            except OSError:
                continue
        return found


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Sandbox() as box:
        yield Stage(box)


def test_no_step_was_forgotten() -> None:
    from woodwind.ops.resume import Resume

    steps = object.__new__(Resume).steps()
    assert [f"resume.{edge}_{step.name}" for step in steps for edge in ("before", "after")] == POINTS


@pytest.mark.parametrize("mode", ["", "=error"], ids=["killed", "full-disk"])
@pytest.mark.parametrize("pane", [False, True], ids=["exited", "closed"])
@pytest.mark.parametrize("point", [*POINTS, "resume.after_commit"])
def test_cut_short(stage: Stage, point: str, pane: bool, mode: str) -> None:
    box, repo = stage.box, stage.repo
    stage.end(pane=pane)
    session = rows(box, "SELECT agent_session FROM worker")
    words = ("resume", "worker-one", "--fresh") if point.endswith("agent") else ("resume", "worker-one")
    cut = box.ww(*words, cwd=repo, env={"WOODWIND_FAILPOINT": f"{point}{mode}"})
    assert cut.code == (-9 if not mode else 1), cut
    entry = listed(box, repo)
    assert leftovers(box, repo) == []
    assert len(panes_of(box, stage.worker)) <= 1
    if point == "resume.after_commit":
        wait_until(box, repo, "ready")
        return
    assert entry["status"] == "exited"
    assert rows(box, "SELECT agent_session FROM worker") == session
    box.wait_for(lambda: not stage.processes(), what="the end of what was started")
    box.ww("resume", "worker-one", cwd=repo, check=True)
    wait_until(box, repo, "ready")
    assert len(stage.processes()) == 1
    assert len(panes_of(box, stage.worker)) == 1
