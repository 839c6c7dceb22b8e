"""`ww merge`, `ww ship`, `ww undo`, `ww history` as people type them, and all that can be in the way."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from woodwind.base.processes import is_running, start_time
from woodwind.testing.evidence import manifest, rows
from woodwind.testing.repo import GitError, commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import finish, names, new_worker, panes_of, start

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
FILES = {"README.md": "# Project\n", "app.py": "print()\n", "other.py": "other\n"}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Scene:
    """A repository with a command that verifies, and workers with something to land."""

    def __init__(self, box: Sandbox, name: str, command: str = "test ! -e broken") -> None:
        self.box = box
        self.repo = make_repo(box.home / name, files=FILES)
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        self.verify(command)
        self.base = self.tip()

    def verify(self, command: str, more: str = "") -> None:
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        (self.repo / "woodwind.toml").write_text(f'{TOY}[verify]\ncommand = "{quoted}"\n{more}')

    def ww(self, *words: str, check: bool = False, cwd: Path | None = None, **env: str) -> Result:
        return self.box.ww(*words, cwd=cwd or self.repo, env=env, check=check)

    def worker(self, name: str = "one", **files: str) -> Path:
        tree = new_worker(self.box, self.repo, name)
        if files:
            commit(tree, f"Work of {name}", {key.replace("__", "."): text for key, text in files.items()})
        return tree

    def tip(self, branch: str = "main") -> str:
        return git(self.repo, "rev-parse", branch)

    def landed(self) -> bool:
        return self.tip() != self.base


@pytest.fixture
def scene(box: Sandbox) -> Scene:
    return Scene(box, f"project-{len(list(box.home.iterdir()))}")


def refused(scene: Scene, *words: str, code: str, exit_code: int = 1) -> dict[str, Any]:
    """The error of a landing that was refused, after which nothing has moved."""
    before = git(scene.repo, "for-each-ref", "refs/heads")
    done = scene.ww(*words, "--json")
    assert done.code == exit_code, done
    assert done.json["error"]["code"] == code, done
    assert git(scene.repo, "for-each-ref", "refs/heads") == before
    error: dict[str, Any] = done.json["error"]
    return error


def test_a_merge_keeps_the_worker_and_leaves_edits_of_the_checkout_alone(scene: Scene) -> None:
    tree = scene.worker(app__py="print('one')\n", new__txt="new\n")
    (scene.repo / "README.md").write_text("edited\n")
    (scene.repo / "key.secret").write_text("ignored\n")
    (scene.repo / "notes.txt").write_text("untracked\n")
    done = scene.ww("merge", "one", "--json", check=True).json["data"]["landed"][0]
    assert (done["target"], done["from"], done["to"]) == ("main", scene.base, scene.tip())
    assert (done["verified"], done["commits"], done["removed"]) == ("passed", 1, False)
    assert git(scene.repo, "log", "-1", "--format=%P").split() == [scene.base, git(tree, "rev-parse", "HEAD")]
    assert (scene.repo / "app.py").read_text() == "print('one')\n"
    assert git(scene.repo, "status", "--porcelain").splitlines() == [" M README.md", "?? notes.txt"]
    assert (scene.repo / "key.secret").read_text() == "ignored\n"
    assert names(scene.box, scene.repo) == ["one"]
    assert rows(scene.box, "SELECT phase FROM worker WHERE name = 'one' AND phase = 'landed'")
    [event] = rows(scene.box, "SELECT data FROM event WHERE kind = 'landing.done' AND data LIKE ?", f"%{done['id']}%")
    assert '"verified": true' in event[0]


def test_a_ship_commits_lands_stops_the_agent_and_parks_and_undo_takes_all_of_it_back(scene: Scene) -> None:
    tree = scene.worker()
    (tree / "new.txt").write_text("new\n")
    (tree / "key.secret").write_text("ignored\n")
    [(worker,)] = rows(
        scene.box, "SELECT w.id FROM worker w JOIN worktree t ON t.worker = w.id WHERE t.path = ?", str(tree)
    )
    done = scene.ww("ship", "one", "--yes", "-m", "Add the new file", "--json", check=True).json["data"]["landed"][0]
    assert done["removed"]
    assert git(scene.repo, "log", "-1", "--format=%s", done["committed"]) == "Add the new file"
    assert (scene.repo / "new.txt").read_text() == "new\n"
    assert not tree.exists()
    assert not panes_of(scene.box, worker)
    scene.ww("new", "More", "--name", "one-more", "--no-agent", check=True)  # the whole name comes before a beginning
    assert scene.ww("log", "one", "--landing", "--json", check=True).json["data"]["name"] == "one"
    undone = scene.ww("undo", "--json", check=True).json["data"]
    assert not undone["landing"]["reverted"]
    assert scene.tip() == scene.base
    assert not (scene.repo / "new.txt").exists()
    assert (tree / "new.txt").read_text() == "new\n"
    assert (tree / "key.secret").read_text() == "ignored\n"
    kinds = [(e["kind"], e["state"]) for e in scene.ww("history", "--json", check=True).json["data"]]
    assert sorted(kinds) == [("land", "undone"), ("remove", "undone"), ("undo", "done")]


def test_what_came_after_is_kept_when_a_landing_is_undone_and_it_can_land_again(scene: Scene) -> None:
    tree = scene.worker(one__txt="one\n")
    scene.ww("merge", "one", check=True)
    later = commit(scene.repo, "Later", {"later.txt": "later\n"})
    undone = scene.ww("undo", "one", "--json", check=True).json["data"]["landing"]
    assert (undone["reverted"], undone["verified"]) == (True, "passed")
    assert git(scene.repo, "log", "-1", "--format=%P") == later
    assert not (scene.repo / "one.txt").exists()
    scene.ww("merge", "one", check=True)
    assert (scene.repo / "one.txt").exists()
    commit(scene.repo, "And later", {"later.txt": "still later\n"})
    scene.ww("undo", "one", check=True)
    commit(tree, "More", {"two.txt": "two\n"})
    scene.ww("merge", "one", check=True)
    assert [(scene.repo / f"{n}.txt").exists() for n in ("one", "two", "later")] == [True] * 3


def test_an_undo_refuses_where_an_edit_would_be_lost(scene: Scene) -> None:
    scene.worker(app__py="print('one')\n")
    scene.ww("merge", "one", check=True)
    (scene.repo / "app.py").write_text("mine\n")
    error = refused(scene, "undo", code="in_the_way")
    assert "app.py" in error["message"]
    assert (scene.repo / "app.py").read_text() == "mine\n"


@pytest.mark.parametrize("state", ["edited", "staged", "untracked", "ignored"])
def test_a_file_that_is_in_the_way_is_named_and_kept(scene: Scene, state: str) -> None:
    name = {"untracked": "new.txt", "ignored": "key.secret"}.get(state, "app.py")
    tree = scene.worker()
    (tree / name).write_text("the worker's\n")
    git(tree, "add", "--force", name)
    commit(tree, "Work")
    (scene.repo / name).write_text("mine\n")
    if state == "staged":
        git(scene.repo, "add", name)
    before = manifest(scene.repo), git(scene.repo, "ls-files", "--stage")
    error = refused(scene, "merge", "one", code="in_the_way")
    assert name in error["message"]
    assert scene.repo.name in error["message"]
    after = manifest(scene.repo), git(scene.repo, "ls-files", "--stage")
    assert {k: v for k, v in after[0].items() if not k.startswith(b".git")} == {
        k: v for k, v in before[0].items() if not k.startswith(b".git")
    }
    assert after[1] == before[1]
    assert name in str(scene.ww("merge", "one", "--dry-run", "--json", check=True).json["data"]["plan"][0]["problems"])


@pytest.mark.parametrize("form", ["a file", "a link"])
def test_an_undo_keeps_an_ignored_file_where_a_folder_would_come_back(scene: Scene, form: str) -> None:
    (scene.repo / "key.secret").mkdir()
    (scene.repo / "key.secret" / "inner.txt").write_text("inner\n")
    git(scene.repo, "add", "--force", "key.secret")
    commit(scene.repo, "Add a folder")
    tree = scene.worker()
    git(tree, "rm", "-rq", "key.secret")
    commit(tree, "Remove it")
    scene.ww("merge", "one", check=True)
    mine = scene.repo / "key.secret"
    if form == "a file":
        mine.write_text("mine\n")
    else:
        mine.symlink_to("README.md")
    error = refused(scene, "undo", code="in_the_way")
    assert "key.secret" in error["message"]
    assert mine.read_text() == ("mine\n" if form == "a file" else FILES["README.md"])


@pytest.mark.parametrize("ignored", [False, True])
def test_a_folder_that_becomes_a_file_lands_unless_something_unknown_is_in_it(scene: Scene, ignored: bool) -> None:
    commit(scene.repo, "Add a folder", {"thing/a.txt": "a\n", "thing/deep/b.txt": "b\n"})
    tree = scene.worker()
    git(tree, "rm", "-rq", "thing")
    (tree / "thing").symlink_to("README.md")
    git(tree, "add", "thing")
    commit(tree, "A link instead")
    key = scene.repo / "thing" / "deep" / "key.secret"
    if ignored:
        key.write_text("mine\n")
        assert "thing/deep/key.secret" in refused(scene, "merge", "one", code="in_the_way")["message"]
        planned = scene.ww("merge", "one", "--dry-run", "--json", check=True).json["data"]["plan"][0]
        assert "thing/deep/key.secret" in str(planned["problems"])
        assert key.read_text() == "mine\n"
        return
    scene.ww("merge", "one", check=True)
    assert (scene.repo / "thing").is_symlink()
    scene.ww("undo", check=True)
    assert (scene.repo / "thing" / "deep" / "b.txt").read_text() == "b\n"
    assert git(scene.repo, "status", "--porcelain") == ""


def test_conflicts_are_not_left_where_an_ignored_file_would_be_overwritten(scene: Scene) -> None:
    tree = scene.worker(app__py="theirs\n")
    (tree / "key.secret").write_text("the worker's\n")
    (scene.repo / "key.secret").write_text("main's\n")
    git(scene.repo, "add", "--force", "key.secret")
    commit(scene.repo, "Ours", {"app.py": "ours\n"})
    error = refused(scene, "merge", "one", "--leave-conflicts", code="in_the_way")
    assert "key.secret" in error["message"]
    assert (tree / "key.secret").read_text() == "the worker's\n"
    assert git(tree, "status", "--porcelain") == ""


def test_a_target_in_a_second_worktree_is_moved_there_and_not_in_the_first(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    git(scene.repo, "switch", "-q", "-c", "mine")
    second = scene.repo.parent / f"{scene.repo.name}-second"
    git(scene.repo, "worktree", "add", "-q", str(second), "main")
    hook = scene.repo / ".git" / "hooks" / "post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ncase $PWD in *lane*) ;; *) touch ../hook-ran;; esac\n")
    hook.chmod(0o755)
    scene.ww("merge", "one", check=True)
    assert (second / "new.txt").exists()
    assert git(second, "status", "--porcelain") == ""
    assert not (scene.repo / "new.txt").exists()
    assert git(scene.repo, "rev-parse", "HEAD") == scene.base
    assert not (scene.repo.parent / "hook-ran").exists()


def test_a_target_that_is_checked_out_nowhere_moves_by_itself(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    git(scene.repo, "branch", "release")
    scene.ww("merge", "one", "--into", "release", "--squash", check=True)
    assert git(scene.repo, "ls-tree", "--name-only", "release").split() == [
        "README.md",
        "app.py",
        "new.txt",
        "other.py",
    ]
    assert not scene.landed()


def test_the_recorded_base_is_the_target(scene: Scene) -> None:
    git(scene.repo, "branch", "develop2")
    made = scene.ww("new", "Work", "--name", "one", "--base", "develop2", "--json", check=True).json["data"]["workers"][
        0
    ]
    commit(Path(made["path"]), "Work", {"new.txt": "new\n"})
    scene.ww("ship", "one", "--yes", check=True)
    assert not scene.landed()
    assert "new.txt" in git(scene.repo, "ls-tree", "--name-only", "develop2")


@pytest.mark.parametrize("method", ["--rebase", "--squash"])
def test_what_landed_by_other_commits_is_recognised(scene: Scene, method: str) -> None:
    scene.worker(new__txt="new\n")
    commit(scene.repo, "Main goes on", {"other.py": "changed\n"})
    scene.ww("merge", "one", method, check=True)
    assert git(scene.repo, "log", "-1", "--format=%P") == git(scene.repo, "rev-parse", "main^")
    refused(scene, "merge", "one", code="already_landed")


def test_a_conflict_leaves_the_agent_running_and_can_be_left_in_its_folder(scene: Scene) -> None:
    tree = scene.worker(app__py="theirs\n")
    [(worker,)] = rows(
        scene.box, "SELECT w.id FROM worker w JOIN worktree t ON t.worker = w.id WHERE t.path = ?", str(tree)
    )
    commit(scene.repo, "Ours", {"app.py": "ours\n"})
    error = refused(scene, "ship", "one", "--yes", code="conflict")
    assert "app.py" in error["message"]
    assert panes_of(scene.box, worker)
    refused(scene, "merge", "one", "--leave-conflicts", code="conflicts_left")
    assert "<<<<<<<" in (tree / "app.py").read_text()
    refused(scene, "ship", "one", "--yes", code="unmerged")
    commit(tree, "Settled", {"app.py": "both\n"})
    scene.ww("merge", "one", check=True)
    assert (scene.repo / "app.py").read_text() == "both\n"


@pytest.mark.parametrize("strategy, kept", [("ours", "ours\n"), ("theirs", "theirs\n")])
def test_theirs_is_the_workers_side(scene: Scene, strategy: str, kept: str) -> None:
    scene.worker(app__py="theirs\n", new__txt="new\n")
    commit(scene.repo, "Ours", {"app.py": "ours\n"})
    scene.ww("merge", "one", "--strategy", strategy, check=True)
    assert (scene.repo / "app.py").read_text() == kept
    assert (scene.repo / "new.txt").exists()


def test_refusals_before_anything_is_begun(scene: Scene) -> None:
    tree = scene.worker()
    refused(scene, "merge", "one", code="nothing_to_land")
    (tree / "app.py").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n")
    refused(scene, "merge", "one", code="dirty")
    refused(scene, "ship", "one", "--yes", code="conflict_markers")
    refused(scene, "ship", "typo", "--yes", code="no_worker", exit_code=3)
    refused(scene, "ship", "one", code="usage", exit_code=2)
    refused(scene, "merge", "one", "--into", "nowhere", code="no_target", exit_code=3)
    git(tree, "checkout", "-q", "--", ".")
    commit(tree, "Work", {"new.txt": "new\n"})
    git(tree, "checkout", "-q", "--detach")
    refused(scene, "merge", "one", code="wrong_branch")
    git(tree, "checkout", "-q", "-")
    other = scene.ww("merge", "one", "--json", WOODWIND_WORKER="wsomebodyelse")
    assert other.json["error"]["code"] == "not_yours"
    os.rename(tree, f"{tree}.away")
    assert "ww restore one" in refused(scene, "merge", "one", code="no_folder", exit_code=3)["hint"]
    os.rename(f"{tree}.away", tree)
    assert not scene.landed()
    assert git(scene.repo, "stash", "list") == ""


def test_a_red_verification_lands_nothing_and_its_output_is_kept(scene: Scene) -> None:
    tree = scene.worker(broken="yes\n")
    scene.verify("echo looking; test ! -e broken || { echo it is broken; exit 3; }")
    error = refused(scene, "merge", "one", code="not_verified")
    assert "status 3" in error["message"]
    assert "it is broken" in scene.ww("log", "one", "--landing", check=True).stdout
    assert (tree / "broken").exists()
    loud = scene.ww("merge", "one", "--no-verify", check=True)
    assert "NOT verified" in loud.stdout
    assert scene.ww("history", "--json", check=True).json["data"][0]["verified"] == "skipped"


def test_a_verification_that_hangs_is_ended_with_all_that_it_started(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    scene.verify("sleep 1000 & echo $! > ~/child; sleep 1000", "timeout = 3\n")
    refused(scene, "merge", "one", code="not_verified", exit_code=5)
    child = int((scene.box.home / "child").read_text())
    scene.box.wait_for(lambda: not is_running(child, start_time(child)), timeout=60)


def test_what_a_verification_writes_is_gone_for_the_next_and_what_passed_is_not_run_again(scene: Scene) -> None:
    scene.worker("one", one__txt="one\n")
    scene.worker("two", two__txt="two\n")
    scene.verify("test ! -e written && echo x > written && echo y >> app.py && echo run >> ~/runs-$WOODWIND_PROJECT")
    scene.ww("merge", "one", check=True)
    scene.ww("merge", "two", check=True)
    [runs] = scene.box.home.glob("runs-*")
    assert runs.read_text() == "run\n" * 2
    undone = scene.ww("undo", check=True)
    assert undone.code == 0
    again = scene.ww("merge", "two", "--json", check=True).json["data"]["landed"][0]
    assert again["verified"] == "reused"
    assert runs.read_text() == "run\n" * 2
    runs.unlink()


def test_without_a_command_nothing_lands_unless_somebody_says_so(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    (scene.repo / "woodwind.toml").write_text(TOY)
    refused(scene, "merge", "one", code="no_verify_command")
    scene.ww("merge", "one", "--no-verify", check=True)
    assert scene.landed()


def test_a_command_that_vanishes_meanwhile_does_not_let_anything_pass(scene: Scene) -> None:
    tree = scene.worker(new__txt="new\n")
    hook = scene.repo / ".git" / "hooks" / "pre-merge-commit"
    hook.write_text(f"#!/bin/sh\n: > {scene.repo}/woodwind.toml\n")
    hook.chmod(0o755)
    done = scene.ww("merge", "one", "--json", cwd=tree)
    assert done.json["error"]["code"] == "no_verify_command", done
    assert not scene.landed()


def test_a_person_is_asked_once_whether_to_land_without_a_command(scene: Scene) -> None:
    scene.worker("one", one__txt="one\n")
    scene.worker("two", two__txt="two\n")
    (scene.repo / "woodwind.toml").write_text(TOY)
    command = (sys.executable, "-m", "woodwind", "merge", "one")
    pane = scene.box.run_in_pane(*command, cwd=scene.repo, env=scene.box.env, until_shown=True)
    scene.box.wait_for(lambda: "[y/N]" in scene.box.screen(pane), timeout=60)
    scene.box.type_in(pane, "y")
    assert scene.box.exit_status(pane, timeout=60) == 0, scene.box.screen(pane)
    assert "NOT verified" in scene.box.screen(pane, history=True)
    done = scene.ww("merge", "two", "--json", check=True).json["data"]["landed"][0]
    assert done["verified"] == "none"


def test_the_workers_own_files_do_not_decide_how_it_is_verified(scene: Scene) -> None:
    tree = scene.worker(broken="yes\n")
    (tree / "woodwind.toml").write_text(f'{TOY}[verify]\ncommand = "true"\n')
    done = scene.ww("merge", "one", "--json", cwd=tree)
    assert done.json["error"]["code"] == "not_verified"


def test_a_target_that_moves_while_verifying_is_merged_and_verified_again(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    ran = scene.box.home / "ran"
    move = f"git -C {scene.repo} commit -q --allow-empty -m Meanwhile"
    scene.verify(f"echo x >> {ran}; test -e {ran}.moved || {{ touch {ran}.moved; {move}; }}")
    done = scene.ww("merge", "one", "--json", check=True).json["data"]["landed"][0]
    assert git(scene.repo, "log", "-1", "--format=%s", done["from"]) == "Meanwhile"
    # The same files had passed: an empty commit changes none.
    assert (ran.read_text(), done["verified"]) == ("x\n", "reused")
    for path in (ran, Path(f"{ran}.moved")):
        path.unlink()


def test_an_agent_that_goes_on_committing_keeps_what_came_later(scene: Scene) -> None:
    tree = scene.worker(new__txt="new\n")
    scene.verify(f"git -C {tree} commit -q --allow-empty -m Later")
    done = scene.ww("ship", "one", "--yes", "--json", check=True).json["data"]["landed"][0]
    assert not done["removed"]
    assert (scene.repo / "new.txt").exists()
    assert git(tree, "log", "-1", "--format=%s") == "Later"
    assert "Later" not in git(scene.repo, "log", "--format=%s", "main")


def waits_for_a_lane(box: Sandbox, pid: int) -> bool:
    """Whether a process waits for the kernel's lock of a lane."""
    lanes = [str(file.stat().st_ino) for file in (box.home / ".local/state/woodwind/locks").glob("lane-*")]
    waiting = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(words[5] == str(pid) and words[6].rpartition(":")[2] in lanes for words in waiting)


@pytest.mark.parametrize(
    "happened, code",
    [("merging", "unmerged"), ("markers", "conflict_markers"), ("elsewhere", "wrong_branch"), ("secret", "critic")],
)
@pytest.mark.parametrize("several", [False, True])
def test_what_happens_while_it_waits_for_another_landing_is_seen(
    scene: Scene, happened: str, code: str, several: bool
) -> None:
    tree = scene.worker(app__py="theirs\n")
    scene.worker("slow", slow__txt="slow\n")
    if several:
        scene.worker("third", third__txt="third\n")
    begun, go_on = (scene.box.root / f"{scene.repo.name}-{name}" for name in ("begun", "go-on"))
    scene.verify(f"test -e slow.txt || exit 0; touch {begun}; while [ ! -e {go_on} ]; do sleep 0.1; done")
    first = start(scene.box, scene.repo, "merge", "slow")
    try:
        scene.box.wait_for(begun.exists, 60, "the first landing")
        words = ("ship", "one", *(["third"] if several else []), "--yes")
        second = start(scene.box, scene.repo, *words)
        scene.box.wait_for(lambda: waits_for_a_lane(scene.box, second.pid), 60, "the second one to wait")
        if happened == "merging":
            other = commit(scene.repo, "Ours", {"app.py": "ours\n"})
            with pytest.raises(GitError):
                git(tree, "merge", "-q", other)
        elif happened == "markers":
            commit(tree, "Markers", {"app.py": "<<<<<<< one\na\n=======\nb\n>>>>>>> two\n"})
        elif happened == "elsewhere":
            git(tree, "switch", "-q", "-c", "mine")
            commit(tree, "On another branch", {"mine.txt": "mine\n"})
        else:
            (tree / "key.txt").write_text("AKIA" + "Q7ZRT2LPW4MNB8KD\n")
    finally:
        go_on.touch()
        finish(first)
    assert finish(second)[0] == (6 if several else 1)
    landed = git(scene.repo, "log", "--format=%s", "main")
    assert "Work of one" not in landed
    assert ("Work of third" in landed) == several
    told = rows(scene.box, "SELECT code FROM landing_queue_entry WHERE state = 'dropped'") if several else []
    assert not several or (code,) in told
    if happened == "merging":
        assert git(tree, "ls-files", "--unmerged")


def test_two_ships_at_once(scene: Scene) -> None:
    """On different workers both land; on the same one, it lands once."""
    scene.worker("one", one__txt="one\n")
    scene.worker("two", two__txt="two\n")
    running = [start(scene.box, scene.repo, "ship", name, "--yes") for name in ("one", "two", "two")]
    ends = [finish(process) for process in running]
    assert ends[0][0] == 0, ends
    assert sorted(code for code, _ in ends[1:])[0] == 0, ends
    subjects = git(scene.repo, "log", "--format=%s", "--first-parent", f"{scene.base}..main").splitlines()
    assert len(subjects) == 2
    assert names(scene.box, scene.repo) == []


def test_several_are_shipped_one_after_the_other_and_who_cannot_is_told(scene: Scene) -> None:
    for name in ("one", "two"):
        scene.worker(name, **{f"{name}__txt": "x\n"})
    scene.worker("bad", broken="yes\n")
    done = scene.ww("ship", "one", "bad", "two", "--yes", "--json")
    assert done.code == 6
    assert [entry["name"] for entry in done.json["data"]["landed"]] == ["one", "two"]
    assert [(entry["name"], entry["code"]) for entry in done.json["data"]["failed"]] == [("bad", "not_verified")]
    assert names(scene.box, scene.repo) == ["bad"]


def test_a_worker_in_place_lands_and_the_checkout_goes_back_only_when_it_is_clean(scene: Scene) -> None:
    scene.ww("branch", "Do it", "--name", "here", check=True)
    commit(scene.repo, "Mine", {"mine.txt": "mine\n"})
    scene.ww("ship", "here", "--yes", check=True)
    assert git(scene.repo, "symbolic-ref", "--short", "HEAD") == "main"
    assert (scene.repo / "mine.txt").exists()
    assert git(scene.repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("app, new_text", [("print('one')\n", "new\n"), ("", "ne"), ("print('one')\n", None)])
def test_a_merge_that_a_killed_git_left_half_done_in_the_checkout_is_finished(
    scene: Scene, app: str, new_text: str | None
) -> None:
    """Files written, index and branch not: as when the machine went down in the middle of a fast-forward."""
    scene.worker(app__py="print('one')\n", new__txt="new\n")
    (scene.repo / "README.md").write_text("edited\n")
    killed = scene.ww("merge", "one", WOODWIND_FAILPOINT="move.before_ref")
    assert killed.code == -9
    [(new,)] = rows(scene.box, "SELECT new FROM landing WHERE state = 'running'")
    if app:
        (scene.repo / "app.py").write_text(app)
    else:
        (scene.repo / "app.py").unlink()
    if new_text is not None:
        (scene.repo / "new.txt").write_text(new_text)
    (scene.repo / ".git" / "index.lock").touch()
    scene.ww("ls", check=True)
    assert scene.tip() == new
    assert (scene.repo / "new.txt").read_text() == "new\n"
    assert git(scene.repo, "status", "--porcelain") == " M README.md"
    assert (scene.repo / "README.md").read_text() == "edited\n"


def test_what_a_killed_landing_left_running_is_ended_by_the_next(scene: Scene) -> None:
    scene.worker(new__txt="new\n")
    note = scene.box.home / "left-running"
    scene.verify(f"test -e {note} || {{ echo $$ > {note}; exec sleep 1000; }}")
    process = start(scene.box, scene.repo, "merge", "one")
    scene.box.wait_for(lambda: note.exists() and note.read_text().strip(), timeout=60)
    pid = int(note.read_text())
    token = start_time(pid)
    process.kill()
    finish(process)
    assert is_running(pid, token)
    scene.ww("ls", check=True)
    assert not is_running(pid, token)
    assert not scene.landed()
    scene.ww("merge", "one", check=True)
    note.unlink()


def test_a_command_that_is_missing_and_a_file_that_is_huge_land_nothing(scene: Scene) -> None:
    tree = scene.worker(new__txt="new\n")
    scene.verify("no-such-program --test")
    assert "127" in refused(scene, "merge", "one", code="not_verified")["message"]
    scene.verify("true")
    with (tree / "huge.bin").open("wb") as file:
        file.truncate(25_000_000)
    commit(tree, "Huge")
    assert "huge.bin" in refused(scene, "ship", "one", "--yes", code="critic")["message"]
    if os.environ.get("WOODWIND_FAULTS") == "long":
        with (tree / "huge.bin").open("wb") as file:
            file.truncate(200_000_000)
        scene.verify("true", '[critic]\nlarge = "off"\n')
        scene.ww("ship", "one", "--yes", check=True)
        assert (scene.repo / "huge.bin").stat().st_size == 200_000_000


def test_a_dry_run_tells_what_would_happen_and_where_it_would_stop(scene: Scene) -> None:
    scene.worker("one", app__py="print('one')\n")
    scene.worker("two", app__py="print('two')\n")
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
    scene.worker("three", key__pem=key)
    scene.worker("four")
    scene.ww("merge", "one", check=True)
    before = scene.tip()

    def told(*words: str) -> tuple[str, list[str], list[str]]:
        shown = scene.ww("merge", *words, "--dry-run", check=True).stdout.splitlines()
        problems = [line.strip().removeprefix("it would stop: ") for line in shown if "it would stop" in line]
        return shown[0], [line.strip() for line in shown[1:] if "it would stop" not in line], problems

    head, steps, problems = told("two")
    assert (head, problems) == ("two would not land in main (merge):", ["conflicts in app.py"])
    assert steps == ["merge 1 commit into main"]  # it is neither verified nor moved
    head, steps, problems = told("two", "--strategy", "theirs", "--no-verify")
    assert (head, problems) == ("two would land in main (merge):", [])
    assert steps[1:3] == ["settle the conflicts in app.py by the side of the worker", "NOT verify it (--no-verify)"]
    denials = rows(scene.box, "SELECT * FROM denial")
    head, steps, problems = told("three")
    assert (head, steps) == ("three would not land in main (merge):", [])
    assert "private key" in problems[0]
    assert rows(scene.box, "SELECT * FROM denial") == denials  # looking is no try
    scene.verify("")
    assert "no [verify] command" in told("two", "--strategy", "theirs")[2][0]
    # Of several, one that cannot land does not hide the others.
    several = scene.ww("ship", "two", "four", "--dry-run", "--json")
    assert several.code == 6
    assert [entry["name"] for entry in several.json["data"]["plan"]] == ["two"]
    assert [(e["name"], e["code"]) for e in several.json["data"]["failed"]] == [("four", "nothing_to_land")]
    assert scene.tip() == before


def test_nothing_is_called_landed_that_the_targets_side_only_hides(scene: Scene) -> None:
    scene.worker("one", app__py="print('one')\n")
    scene.worker("two", app__py="print('two')\n")
    scene.ww("merge", "one", check=True)
    error = refused(scene, "merge", "two", "--strategy", "ours", code="nothing_to_land")
    assert "nothing of two is left" in error["message"]


def test_an_undo_that_cannot_be_says_why(scene: Scene) -> None:
    scene.worker("one", app__py="print('one')\n")
    assert "nothing of 'one'" in refused(scene, "undo", "one", code="no_worker", exit_code=3)["message"]
    landed = scene.ww("merge", "one", "--json", check=True).json["data"]["landed"][0]["id"]
    taken_back = scene.ww("undo", "--json", check=True).json["data"]["landing"]["id"]
    assert "undone before" in refused(scene, "undo", landed, code="not_undoable")["message"]
    assert "an undo itself" in refused(scene, "undo", taken_back, code="not_undoable")["message"]


def test_in_a_bare_repository_a_worker_does_not_choose_what_verifies_it(box: Sandbox) -> None:
    seed = make_repo(box.home / "bare-seed", files=FILES | {"woodwind.toml": f'{TOY}[verify]\ncommand = "false"\n'})
    hub = box.home / "bare.git"
    git(box.home, "clone", "-q", "--bare", str(seed), str(hub))
    for name in ("name", "email"):
        git(hub, "config", f"user.{name}", git(seed, "config", f"user.{name}"))
    git(hub, "worktree", "add", "-q", str(box.home / "bare-main"), "main")
    mine = box.home / "bare-main"
    tree = new_worker(box, mine, "sly")
    commit(tree, "Pass by myself", {"woodwind.toml": f'{TOY}[verify]\ncommand = "true"\n'})
    for folder in (mine, tree):
        told = box.ww("merge", "sly", "--json", cwd=folder)
        assert (told.code, told.json["error"]["code"]) == (1, "not_verified"), str(told)
    git(hub, "worktree", "remove", "--force", str(mine))
    told = box.ww("merge", "sly", "--json", cwd=tree)
    assert told.json["error"]["code"] == "no_verify_command", str(told)
