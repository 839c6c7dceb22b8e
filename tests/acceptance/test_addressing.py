"""Which worker a word means, whose workers are listed, and how commands answer."""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Sandbox


def new(sandbox: Sandbox, cwd: Path, *words: str) -> dict[str, Any]:
    done = sandbox.ww("new", "--json", *words, cwd=cwd, check=True)
    [worker] = done.json["data"]["workers"]
    assert isinstance(worker, dict)
    return worker


def path_of(sandbox: Sandbox, cwd: Path, *words: str) -> str:
    return sandbox.ww("path", *words, cwd=cwd, check=True).stdout.strip()


def listed(sandbox: Sandbox, cwd: Path, *words: str) -> list[dict[str, Any]]:
    found = sandbox.ww("ls", "--json", *words, cwd=cwd, check=True).json["data"]
    assert isinstance(found, list)
    return found


def second_project(sandbox: Sandbox, repo: Path) -> Path:
    path = make_repo(sandbox.home / "deep" / "project")
    shutil.copy(repo / "woodwind.toml", path)
    return path


def test_every_way_to_name_a_worker(sandbox: Sandbox, repo: Path) -> None:
    one = new(sandbox, repo, "Add a greeting")
    two = new(sandbox, repo, "Paint the walls")
    relative = f"../project.worktrees/{Path(one['path']).name}"
    for word in (
        "add-greeting",
        "ADD-Greeting",
        "add",
        "a",
        one["id"],
        one["id"][:6],
        one["branch"],
        one["path"],
        relative,
    ):
        assert path_of(sandbox, repo, word) == one["path"], word
    assert path_of(sandbox, Path(one["path"])) == one["path"]
    assert path_of(sandbox, Path(two["path"], "src")) == two["path"]
    assert path_of(sandbox, repo, "paint", "add", "paint-walls").splitlines() == [two["path"], one["path"]]
    # - is the one that was named last.
    path_of(sandbox, repo, "add")
    assert path_of(sandbox, repo, "-") == one["path"]
    new(sandbox, repo, "Third one")
    assert path_of(sandbox, repo, "-").endswith("third-one")


def test_names_that_begin_alike(sandbox: Sandbox, repo: Path) -> None:
    one, ten = (new(sandbox, repo, "x", "--name", name) for name in ("fix-1", "fix-10"))
    assert path_of(sandbox, repo, "fix-1") == one["path"]
    several = sandbox.ww("path", "fix", cwd=repo)
    assert several.code == 2
    assert "fix-1, fix-10" in several.stderr
    # What destroys wants the name written out, and takes only that one with it.
    refused = sandbox.ww("rm", "fix-", "--yes", cwd=repo)
    assert refused.code == 3
    assert "must be written out" in refused.stderr
    assert len(listed(sandbox, repo)) == 2
    sandbox.ww("rm", "fix-1", "--yes", cwd=repo, check=True)
    assert [w["name"] for w in listed(sandbox, repo)] == ["fix-10"]
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}") == "project-fix-10"
    assert listed(sandbox, repo)[0]["status"] != "exited"
    # Its prefix is free now, and still no exact name of the other.
    assert path_of(sandbox, repo, "fix-1") == ten["path"]
    assert sandbox.ww("rm", "fix-1", "--yes", cwd=repo).code == 3
    assert len(listed(sandbox, repo)) == 1


def test_a_name_that_nobody_has(sandbox: Sandbox, repo: Path) -> None:
    assert sandbox.ww("path", "-", cwd=repo).code == 3
    new(sandbox, repo, "Add a greeting")
    for verb in ("show", "path", "log", "promote"):
        missed = sandbox.ww(verb, "ad-greting", cwd=repo)
        assert missed.code == 3
        assert "Did you mean add-greeting?" in missed.stderr
    assert "`ww ls` lists the workers" in sandbox.ww("show", "zzz", cwd=repo).stderr
    nowhere = sandbox.ww("show", cwd=repo)
    assert nowhere.code == 2
    assert "which worker?" in nowhere.stderr
    # All are found before anything is done to one.
    assert sandbox.ww("rm", "add-greeting", "nobody", "--yes", cwd=repo).code == 3
    assert len(listed(sandbox, repo)) == 1


def test_a_destructive_verb_without_a_terminal_needs_yes(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "Add a greeting")
    refused = sandbox.ww("rm", "add-greeting", cwd=repo)
    assert refused.code == 2
    assert "--yes" in refused.stderr
    assert len(listed(sandbox, repo)) == 1


def test_projects_never_mix(sandbox: Sandbox, repo: Path) -> None:
    other = second_project(sandbox, repo)
    mine, theirs = new(sandbox, repo, "Add a greeting"), new(sandbox, other, "Add a greeting")
    assert mine["name"] == theirs["name"]
    assert [w["id"] for w in listed(sandbox, repo)] == [mine["id"]]
    assert [w["id"] for w in listed(sandbox, other)] == [theirs["id"]]
    assert path_of(sandbox, other, "add-greeting") == theirs["path"]
    assert sandbox.ww("path", mine["id"], cwd=other).code == 3
    everyone = listed(sandbox, sandbox.home, "--all")
    assert {w["id"] for w in everyone} == {mine["id"], theirs["id"]}
    assert [w["project_name"] for w in everyone] == ["project", "project"]
    assert "PROJECT" in sandbox.ww("ls", "--all", cwd=sandbox.home, check=True).stdout
    sandbox.ww("rm", "add-greeting", "--yes", cwd=repo, check=True)
    [left] = listed(sandbox, other)
    assert left["id"] == theirs["id"]
    assert left["status"] != "exited"
    assert Path(theirs["path"]).exists()


def test_a_copy_of_a_repository_asks(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "Add a greeting")
    copy = sandbox.home / "copy"
    shutil.copytree(repo, copy)
    for words in (("ls",), ("new", "x"), ("show", "add-greeting"), ("rm", "add-greeting", "--yes")):
        asked = sandbox.ww(*words, cwd=copy)
        assert asked.code == 1, asked
        assert "one is a copy of the other" in asked.stderr
        assert str(copy / ".git" / "woodwind" / "id") in asked.stderr
    assert len(listed(sandbox, repo)) == 1
    # What the hint says makes it a project of its own; the copied worktree entries are not its workers.
    (copy / ".git" / "woodwind" / "id").unlink()
    assert listed(sandbox, copy) == []
    sandbox.ww("new", "Of the copy", cwd=copy, check=True)
    assert [w["name"] for w in listed(sandbox, copy)] == ["copy"]
    assert [w["name"] for w in listed(sandbox, repo)] == ["add-greeting"]


def test_a_moved_repository_keeps_its_workers(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "Add a greeting")
    moved = repo.rename(sandbox.home / "elsewhere")
    lost = sandbox.ww("ls", cwd=Path(worker["path"]))
    assert lost.code == 1
    assert "git worktree repair" in lost.stderr
    assert [w["name"] for w in listed(sandbox, moved)] == ["add-greeting"]
    # Its worktree works again, and so do the verbs.
    assert git(Path(worker["path"]), "status", "--porcelain") == ""
    assert path_of(sandbox, Path(worker["path"])) == worker["path"]
    sandbox.ww("show", "add-greeting", cwd=moved, check=True)
    sandbox.ww("rm", "add-greeting", "--yes", cwd=moved, check=True)
    sandbox.ww("restore", "add-greeting", cwd=moved, check=True)


def test_a_repository_that_moved_together_with_its_worktrees(sandbox: Sandbox, repo: Path) -> None:
    (sandbox.home / "all").mkdir()
    inside = repo.rename(sandbox.home / "all" / "project")
    worker = new(sandbox, inside, "Add a greeting")
    (Path(worker["path"]) / "mine").write_text("work")
    (sandbox.home / "all").rename(sandbox.home / "moved")
    top = sandbox.home / "moved" / "project"
    assert [w["name"] for w in listed(sandbox, top)] == ["add-greeting"]
    shown = sandbox.ww("show", "add-greeting", cwd=top, check=True).stdout
    assert "its folder is missing" in shown or "mine" in shown
    assert (sandbox.home / "moved" / "project.worktrees" / "add-greeting" / "mine").read_text() == "work"


def test_a_damaged_row_breaks_neither_the_list_nor_the_others(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "x", "--name", "good")
    new(sandbox, repo, "x", "--name", "huge")
    new(sandbox, repo, "x", "--name", "odd")
    database = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE worker SET created_at = 9223372036854775807 WHERE name = 'huge'")
        db.execute("UPDATE worker SET phase = 'nonsense' WHERE name = 'odd'")
        db.execute("DELETE FROM worktree WHERE worker = (SELECT id FROM worker WHERE name = 'odd')")
        db.commit()
    by_name = {w["name"]: w for w in listed(sandbox, repo)}
    assert set(by_name) == {"good", "huge", "odd"}
    assert "damaged" in by_name["huge"]["detail"]
    for words in (("ls",), ("ls", "--all"), ("show", "good"), ("path", "good")):
        sandbox.ww(*words, cwd=repo, check=True)
    # Git keeps each worker's own record, from which its row was mended meanwhile.
    for name in ("huge", "odd"):
        sandbox.ww("show", name, cwd=repo, check=True)
    assert {w["phase"] for w in listed(sandbox, repo)} == {"running"}
    assert all(w["created_at"] for w in listed(sandbox, repo))
    sandbox.ww("new", "Another", cwd=repo, check=True)
    sandbox.ww("rm", "huge", "good", "--yes", cwd=repo, check=True)


def test_a_damaged_row_without_a_record_says_what_to_do(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "x", "--name", "good")
    new(sandbox, repo, "x", "--name", "huge")
    (repo / ".git" / "worktrees" / "huge" / "woodwind.json").unlink()
    database = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE worker SET created_at = 9223372036854775807 WHERE name = 'huge'")
        db.commit()
    told = sandbox.ww("show", "huge", cwd=repo)
    assert told.code == 1
    assert "damaged" in told.stderr
    assert str(database) in told.stderr
    sandbox.ww("rm", "good", "--yes", cwd=repo, check=True)
    assert [w["name"] for w in listed(sandbox, repo)] == ["huge"]


def test_a_worktree_that_was_deleted_from_outside(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "Add a greeting")
    shutil.rmtree(worker["path"])
    sandbox.ww("ls", cwd=repo, check=True)
    assert "its folder is missing" in sandbox.ww("show", "add-greeting", cwd=repo, check=True).stdout
    sandbox.ww("rm", "add-greeting", "--yes", cwd=repo, check=True)
    assert listed(sandbox, repo) == []


@pytest.mark.parametrize(
    "words, code, kind",
    [
        (("ls",), 0, ""),
        (("version",), 0, ""),
        (("config", "show"), 0, ""),
        (("help",), 0, ""),
        (("trash",), 0, ""),
        (("show", "nobody"), 3, "no_worker"),
        (("show", "--nope"), 2, "usage"),
        (("lss",), 2, "usage"),
        (("new", ""), 2, "usage"),
        (("new", "x", "--agent", "nobody"), 3, "no_agent"),
        (("config", "explain"), 2, "usage"),
    ],
)
def test_the_envelope(sandbox: Sandbox, repo: Path, words: tuple[str, ...], code: int, kind: str) -> None:
    for how, env in (((*words, "--json"), {}), (("--json", *words), {}), (words, {"WOODWIND_FORMAT": "json"})):
        done = sandbox.ww(*how, cwd=repo, env=env)
        assert done.code == code, done
        assert done.stdout.count("\n") == 1
        envelope = done.json
        assert list(envelope) == ["version", "ok", "data", "error"]
        assert envelope["version"] == 1
        assert envelope["ok"] is (code == 0)
        if code:
            assert envelope["data"] is None
            assert envelope["error"]["code"] == kind
            assert set(envelope["error"]) == {"code", "message", "hint"}
            assert envelope["error"]["message"]
        else:
            assert envelope["error"] is None
    # People get the same as text, and nothing of the error on standard output.
    plain = sandbox.ww(*words, cwd=repo, env={"WOODWIND_FORMAT": "human"})
    assert plain.code == code
    assert not plain.stdout.startswith("{")
    assert not (code and plain.stdout)


def test_json_as_a_task_is_a_task(sandbox: Sandbox, repo: Path) -> None:
    done = sandbox.ww("new", "--", "--json", cwd=repo, check=True)
    assert "started" in done.stdout


@pytest.mark.parametrize("typed, meant", [("lsit", "list"), ("shwo", "show"), ("nwe", "new"), ("xyzzy", "help")])
def test_an_unknown_command(sandbox: Sandbox, typed: str, meant: str) -> None:
    done = sandbox.ww(typed)
    assert done.code == 2
    assert f"unknown command '{typed}'" in done.stderr
    assert f"`ww {meant}`" in done.stderr


def test_help_and_version(sandbox: Sandbox) -> None:
    for words in ((), ("help",), ("--help",), ("-h",)):
        assert "ww COMMAND --help" in sandbox.ww(*words, check=True).stdout
    assert "examples:" in sandbox.ww("new", "--help", check=True).stdout
    assert sandbox.ww("help", "new", check=True).stdout == sandbox.ww("new", "--help", check=True).stdout
    assert sandbox.ww("--version", check=True).stdout.startswith("woodwind ")
    assert sandbox.ww("-V", check=True).stdout == sandbox.ww("--version", check=True).stdout
    assert sandbox.ww("help", "nope").code == 2
    assert sandbox.ww("--nope").code == 2


def test_another_folder_for_one_call(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "Add a greeting")
    done = sandbox.ww("-C", str(repo), "ls", "--json", cwd=sandbox.home, check=True)
    assert done.json["data"][0]["name"] == "add-greeting"


def test_streams_that_are_closed_or_go_away_are_no_crash(sandbox: Sandbox, repo: Path) -> None:
    ww = f"{sys.executable} -m woodwind"
    done = sandbox.run("sh", "-c", f"{ww} help new | true; {ww} ls >&-; {ww} ls <&-; {ww} new - <&-", cwd=repo)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert "a bug" not in done.stderr
    assert "there is no task" in done.stderr
