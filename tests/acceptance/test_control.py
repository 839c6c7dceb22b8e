"""The control plane as a person uses it: the real program in a real tmux, by its keys, on what it paints."""

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from woodwind.testing.daemons import ON, daemon_status
from woodwind.testing.desk import PATIENCE, Desk
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, names, panes_of, rehearse


@pytest.fixture
def project(sandbox: Sandbox, repo: Path) -> Path:
    """A repository whose checks pass, of a person whose rehearsal agents may do what they are told."""
    with (repo / "woodwind.toml").open("a") as file:
        file.write('[verify]\ncommand = "test -f README.md"\n')
    own = Path(sandbox.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    own.parent.mkdir(parents=True)
    own.write_text('[agents.rehearsal]\npermissions = "auto"\n')
    return repo


def test_rows_and_verbs_are_painted_and_a_question_is_answered(sandbox: Sandbox, project: Path) -> None:
    rehearse(sandbox, project, "ask Shall I go on?", "write a.txt {answer}", "commit Add a", name="asker", env=ON)
    rehearse(sandbox, project, "think 600", name="thinker", env=ON)
    desk = Desk(sandbox, project)
    shown = desk.shows("NEEDS YOU 1", "Shall I go on?", "IN FLIGHT 1", "thinker", "answer", "1. Yes  2. No")
    assert shown.index("NEEDS YOU") < shown.index("IN FLIGHT")
    assert "asker" in desk.selected
    desk.press("e")
    desk.shows("because", "hook told")
    desk.press("Escape")
    desk.shows(without="because")
    desk.type("/thinker")  # in one burst: what is typed is for the filter, not for the list
    desk.shows("filter: thinker", without="asker")
    desk.press("Escape")
    desk.shows("NEEDS YOU 1")
    desk.select("asker")
    desk.press("Enter")
    desk.shows("asker asks:")
    desk.press("Escape")  # leaves it open
    desk.shows("NEEDS YOU 1", without="asker asks:")
    desk.type("ycertainly")
    desk.shows("asker asks:", "certainly")
    desk.press("C-s")
    desk.shows("READY TO SHIP 1", "1 commit", without="NEEDS YOU")
    assert "asker" in desk.selected
    assert "certainly" in (Path(listed(sandbox, project, "asker")["path"]) / "a.txt").read_text()
    assert desk.leave() == 0


def test_ship_merge_undo_and_dismiss(sandbox: Sandbox, project: Path) -> None:
    for name in ("first", "second"):
        rehearse(sandbox, project, f"write {name}.txt hello", f"commit Add {name}", name=name, env=ON)
    before = git(project, "rev-parse", "main")
    desk = Desk(sandbox, project)
    desk.shows("READY TO SHIP 2", "1 commit", "not verified yet")
    desk.select("first")
    desk.press("S")
    desk.shows("Ship first?")
    desk.press("Enter")  # the default is no
    desk.shows("READY TO SHIP 2", without="Ship first?")
    assert git(project, "rev-parse", "main") == before
    desk.press("S", "S", "y", "S")  # whatever comes after the first yes finds the worker busy or gone
    desk.shows("first landed in main", "BACKGROUND", "READY TO SHIP 1")
    assert git(project, "log", "--format=%s", "--no-merges", f"{before}..main") == "Add first"
    sandbox.wait_for(lambda: names(sandbox, project) == ["second"], what="the first to be put away")
    desk.select("first landed in main")
    desk.press("z")
    desk.shows("Take this back")
    desk.press("y")
    desk.shows("READY TO SHIP 2", "was taken back")
    assert git(project, "rev-parse", "main") == before
    assert sorted(names(sandbox, project)) == ["first", "second"]
    desk.select("was taken back")
    desk.press("d")
    desk.shows("READY TO SHIP 2", without="was taken back")
    desk.select("second")
    desk.press("m")
    desk.shows("Merge second?")
    desk.press("y")
    desk.shows("second landed in main", "READY TO SHIP 1", "IN FLIGHT 1")
    assert (project / "second.txt").exists()
    assert sorted(names(sandbox, project)) == ["first", "second"]


def test_review_pause_resume_send_and_remove(sandbox: Sandbox, project: Path) -> None:
    made = rehearse(sandbox, project, "write a.txt one", "commit Add a", name="worker-one", env=ON)
    desk = Desk(sandbox, project)
    desk.shows("READY TO SHIP 1")
    desk.press("r")
    desk.shows("review of worker-one: 1 file,", "a.txt", "+ one")
    desk.press("Down", "Down", "c")
    desk.shows("Comment on a.txt:1")
    desk.type("rehearse: think 600")
    desk.press("C-s")
    desk.shows("1 comment not sent", "▸ rehearse: think 600")
    desk.press("s")
    desk.shows("IN FLIGHT 1", "working", without="review of")
    desk.press("p")
    desk.shows("paused")
    desk.press("u")
    desk.shows("worker-one was continued")  # until then the row is busy
    desk.type("srehearse: write b.txt two")  # in one burst, and no letter of it is a verb of the row
    desk.shows("To worker-one:", "rehearse: write b.txt two")
    desk.press("Enter")
    desk.type("rehearse: write c.txt three")
    desk.press("C-s")
    there = Path(made["path"]) / "c.txt"
    sandbox.wait_for(lambda: there.exists(), PATIENCE, what="both lines of the message")
    desk.shows("2 uncommitted")
    desk.press("x")
    desk.shows("Remove worker-one?", "uncommitted")
    desk.press("y")
    desk.shows("worker-one was removed", "BACKGROUND 1", without="READY TO SHIP")
    assert names(sandbox, project) == []
    desk.press("z")
    desk.shows("Take this back")
    desk.press("y")
    sandbox.wait_for(lambda: names(sandbox, project) == ["worker-one"], PATIENCE, what="its return")
    assert (Path(made["path"]) / "c.txt").exists()


def test_what_does_not_land_needs_you_and_is_fixed(sandbox: Sandbox, project: Path) -> None:
    with (project / "woodwind.toml").open("a") as file:
        file.write("[forecast]\ntell = false\n")  # nobody is to work on a collision while the other is shipped
    for name in ("first", "second"):
        rehearse(sandbox, project, f"write a.txt {name}", f"commit Add a by {name}", name=name, env=ON)
    editor = sandbox.home / "editor"
    editor.write_text(f'#!/bin/sh\necho "$@" > {sandbox.home}/edited\nread -r line\n')
    editor.chmod(0o755)
    desk = Desk(sandbox, project, env={"EDITOR": str(editor)})
    desk.shows("READY TO SHIP 2", "collides with")
    desk.select("first")
    desk.press("S")
    desk.shows("Ship first?")
    desk.press("y")
    desk.shows("first landed in main", "READY TO SHIP 1")
    desk.select("second")
    desk.press("S")
    desk.shows("Ship second?")
    desk.press("y")
    desk.shows("NEEDS YOU 1", "it did not land", "fix")
    desk.select("second")
    desk.press("f")  # nothing is conflicted in its own folder: to its terminal
    desk.shows("Add a by second", without="NEEDS YOU")
    _detach(sandbox, listed(sandbox, project, "second")["id"])
    desk.shows("NEEDS YOU 1")
    sandbox.ww("merge", "second", "--leave-conflicts", cwd=project)
    desk.press("f")
    sandbox.wait_for(lambda: (sandbox.home / "edited").exists(), PATIENCE, what="the editor")
    assert (sandbox.home / "edited").read_text().strip().endswith("a.txt")
    desk.press("Enter")
    desk.shows("NEEDS YOU 1")
    assert "second" in desk.selected


def _detach(box: Sandbox, worker: str) -> None:
    """Leave a worker's terminal as its person does."""
    [pane] = panes_of(box, worker)
    session = box.fact(pane, "session_name")
    box.wait_for(lambda: box.tmux("list-clients", "-t", f"={session}"), PATIENCE, what="a client")
    box.tmux("detach-client", "-s", f"={session}")


def test_attach_and_come_back_with_the_selection_kept(sandbox: Sandbox, project: Path) -> None:
    rehearse(sandbox, project, "think 600", name="first", env=ON)
    made = rehearse(sandbox, project, "say I am the second", "think 600", name="second", env=ON)
    desk = Desk(sandbox, project)
    desk.shows("IN FLIGHT 2", "second")
    desk.select("second")
    desk.press("a")
    desk.shows("I am the second", without="IN FLIGHT")
    _detach(sandbox, made["id"])
    desk.shows("IN FLIGHT 2")
    assert "second" in desk.selected


def test_a_new_worker_from_the_form_and_a_switch_to_it_inside_tmux(sandbox: Sandbox, project: Path) -> None:
    desk = Desk(sandbox, project)
    desk.shows("no workers: n starts one")
    desk.press("n")
    desk.shows("A new worker.", "Template")
    desk.press("C-s")
    desk.shows("Say what is to be done.")
    desk.type("Add a farewell")
    desk.press("C-s")
    desk.shows("add-farewell", "IN FLIGHT 1", "toy got")
    assert names(sandbox, project) == ["add-farewell"]
    outer = sandbox.run_in_pane(
        "tmux", "-L", desk.server, "attach", "-t", sandbox.fact(desk.pane, "session_name", server=desk.server),
        server="outer", env={"TMUX": ""}, size=(160, 40),
    )  # fmt: skip

    def painted(words: str) -> None:
        sandbox.wait_for(lambda: words in sandbox.screen(outer, server="outer"), PATIENCE, what=words)

    painted("IN FLIGHT 1")
    asked = ("list-clients", "-F", "#{client_session}")
    before = sandbox.tmux(*asked, server=desk.server)
    sandbox.press(outer, "a", server="outer")
    sandbox.wait_for(lambda: sandbox.tmux(*asked, server=desk.server) != before, PATIENCE, what="the switch")
    painted("toy got")
    sandbox.press(outer, "C-b", "L", server="outer")
    painted("IN FLIGHT 1")
    assert "add-farewell" in desk.selected


def test_it_outlives_its_daemon_its_workers_and_their_tmux(sandbox: Sandbox, project: Path) -> None:
    rehearse(sandbox, project, "think 600", name="thinker", env=ON)
    rehearse(sandbox, project, "think 600", name="goner", env=ON)
    desk = Desk(sandbox, project, size=(80, 24))
    desk.shows("IN FLIGHT 2")
    desk.select("goner")
    desk.press("x")
    desk.shows("Remove goner?")
    sandbox.ww("rm", "goner", "--force", "--yes", cwd=project, check=True)
    desk.press("y")  # somebody else was faster
    desk.shows("IN FLIGHT 1", "goner was removed")
    assert "goner" not in desk.selected or "was removed" in desk.selected
    daemon = sandbox.wait_for(lambda: daemon_status(sandbox), PATIENCE, what="a daemon") or {}
    os.kill(daemon["pid"], signal.SIGKILL)
    sandbox.wait_for(
        lambda: (daemon_status(sandbox) or daemon)["pid"] != daemon["pid"], PATIENCE, what="another daemon"
    )
    rehearse(sandbox, project, "ask Still there?", name="asker", env=ON)
    desk.shows("NEEDS YOU 1", "Still there?", "thinker")
    sandbox.tmux("kill-server")
    desk.shows("NEEDS YOU 2", "it exited")
    assert desk.leave() == 0


def test_a_locked_database_and_a_resize_do_not_stop_it(sandbox: Sandbox, project: Path) -> None:
    rehearse(sandbox, project, "write a.txt one", "commit Add a", name="shipper", env=ON)
    desk = Desk(sandbox, project)
    desk.shows("READY TO SHIP 1")
    with closing(sqlite3.connect(Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db"))) as db:
        db.execute("BEGIN IMMEDIATE")
        desk.press("S")
        desk.shows("Ship shipper?")
        desk.press("y")
        desk.shows("shipping …")  # it waits for the one who holds the database, and the screen does not
        desk.resize(80, 24)
        desk.shows("shipping …", "READY TO SHIP 1")
        desk.press("S")
        desk.shows("is busy")
        desk.press("?")
        desk.shows("filter the rows")
        desk.press("Escape")
        desk.resize(200, 50)
        desk.shows("shipping …", without="filter the rows")
        db.execute("ROLLBACK")
    desk.shows("shipper landed in main", without="READY TO SHIP")
    assert (project / "a.txt").exists()


def test_without_a_terminal_it_is_an_error_that_says_what_to_do(sandbox: Sandbox, repo: Path) -> None:
    done = sandbox.ww("control", cwd=repo)
    assert done.code == 2
    assert "needs a person at a terminal" in done.stderr
    assert "ww ls --watch" in done.stderr
    assert "control" in sandbox.ww(cwd=repo, check=True).stdout
