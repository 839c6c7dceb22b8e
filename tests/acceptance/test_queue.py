"""`ww queue` as people type it: who is ready, red batches, lanes, a broken or moving target, and who is told."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.evidence import rows
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import heard, listed, names, rehearse, start

CHECK = "[ -e left ] && [ -e right ] && echo together && exit 1\n[ -e broken ] && exit 1\nexit 0\n"
SHIP = ("queue", "--ship", "--yes")


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Scene:
    """A repository with workers that have no agent, each with one commit of the files that it is given."""

    def __init__(self, box: Sandbox, number: int) -> None:
        self.box = box
        files = {"check.sh": CHECK, "woodwind.toml": '[verify]\ncommand = "sh check.sh"\n'}
        self.repo = make_repo(box.home / f"project-{number}", files=files)
        self.base = self.tip()

    def workers(self, *files: str) -> list[dict[str, Any]]:
        """One worker for each file, which it adds; later ones are larger, so that they come later."""
        words = ("new", "Do work", "-n", str(len(files)), "--no-agent", "--json")
        made: list[dict[str, Any]] = self.ww(*words, check=True).json["data"]["workers"]
        for n, (worker, name) in enumerate(zip(made, files, strict=True), 1):
            commit(Path(worker["path"]), f"Add {name}", {name: "x\n" * n})
        return made

    def ww(self, *words: str, check: bool = False, **env: str) -> Result:
        return self.box.ww(*words, cwd=self.repo, env=env, check=check, timeout=200)

    def tip(self) -> str:
        return git(self.repo, "rev-parse", "main")

    def files(self) -> set[str]:
        return set(git(self.repo, "ls-tree", "--name-only", "main").split()) - {"check.sh", "woodwind.toml"}


@pytest.fixture
def scene(box: Sandbox) -> Scene:
    return Scene(box, len(list(box.home.glob("project-*"))))


def test_green_workers_cost_one_verification_and_one_move(scene: Scene) -> None:
    made = scene.workers("a", "b", "c", "d")
    done = scene.ww(*SHIP, "--json", check=True).json["data"]
    assert done["verifications"] == 1
    assert [e["name"] for e in done["landed"]] == [w["name"] for w in made]
    assert scene.files() == {"a", "b", "c", "d"}
    assert len(git(scene.repo, "reflog", "show", "main").splitlines()) == 2


@pytest.mark.parametrize("lanes", ["1", "3"])
def test_the_guilty_one_falls_out_and_the_others_land(scene: Scene, lanes: str) -> None:
    made = scene.workers("left", "b", "c", "right", "e")
    done = scene.ww(*SHIP, "--lanes", lanes, "--json")
    assert done.code == 6, str(done)
    (dropped,) = done.json["data"]["dropped"]
    assert (dropped["name"], dropped["code"]) == (made[3]["name"], "not_verified")
    assert "together" in Path(dropped["output"]).read_text()
    assert "together" in scene.ww("log", dropped["name"], "--landing", check=True).stdout
    assert rows(scene.box, "SELECT verified FROM landing WHERE worker = ?", dropped["id"]) == [("",)]
    assert scene.files() == {"left", "b", "c", "e"}
    assert names(scene.box, scene.repo) == [made[3]["name"]]
    shown = scene.ww("queue", check=True).stdout
    assert f"{made[3]['name']} fell out of the last queue" in shown
    assert "has not changed since" in shown
    assert scene.ww(*SHIP, "--json").json["error"]["code"] == "nobody_ready"
    assert scene.ww(*SHIP, made[3]["name"]).code == 6
    assert "fell out of the queue" in scene.ww("ls", check=True).stdout
    told = rows(scene.box, "SELECT data FROM event WHERE kind = 'queue.dropped' AND worker = ?", made[3]["id"])
    assert json.loads(told[0][0])["output"] == dropped["output"]


def test_one_that_has_landed_and_was_kept_is_ready_only_with_something_new(scene: Scene) -> None:
    [made] = scene.ww("new", "Do work", "--no-agent", "--json", check=True).json["data"]["workers"]
    scene.ww("forecast", check=True)
    commit(Path(made["path"]), "Work", {"a": "x\n"})
    scene.ww("merge", made["name"], check=True)
    assert scene.ww(*SHIP, "--json").json["error"]["code"] == "nobody_ready"
    assert names(scene.box, scene.repo) == [made["name"]]
    (Path(made["path"]) / "b").write_text("more\n")
    assert [e["files"] for e in scene.ww("queue", "--json", check=True).json["data"]["ready"]] == [1]
    scene.ww(*SHIP, check=True)
    assert scene.files() == {"a", "b"}


def test_one_that_is_named_and_has_no_folder_any_more_is_told_as_not_landed(scene: Scene) -> None:
    gone, there = scene.workers("gone", "there")
    shutil.rmtree(gone["path"])
    done = scene.ww("ship", gone["name"], there["name"], "--yes", "--json")
    assert done.code == 6, str(done)
    assert [(e["name"], e["code"]) for e in done.json["data"]["failed"]] == [(gone["name"], "no_folder")]
    assert scene.files() == {"there"}


def test_who_collides_with_one_that_falls_out_lands(scene: Scene) -> None:
    first, second = scene.workers("broken", "b")
    commit(Path(first["path"]), "One way", {"shared": "first\n"})
    commit(Path(second["path"]), "Another way", {"shared": "second\n" * 3})
    done = scene.ww(*SHIP, "--json")
    assert done.code == 6, str(done)
    assert [(e["name"], e["code"]) for e in done.json["data"]["dropped"]] == [(first["name"], "not_verified")]
    assert [e["name"] for e in done.json["data"]["landed"]] == [second["name"]]
    assert git(scene.repo, "show", "main:shared").splitlines() == ["second"] * 3


def test_a_target_that_is_broken_itself_is_nobodys_guilt(scene: Scene) -> None:
    commit(scene.repo, "Break it", {"broken": "x\n"})
    made = scene.workers("a", "b")
    before = scene.tip()
    done = scene.ww(*SHIP, "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "target_red")
    assert scene.tip() == before
    assert {w["phase"] for w in scene.ww("ls", "--json", check=True).json["data"]} == {"running"}
    git(scene.repo, "rm", "--quiet", "broken")
    commit(scene.repo, "Mend it")
    for worker in made:
        git(Path(worker["path"]), "rebase", "--quiet", "main")
    assert len(scene.ww(*SHIP, "--json", check=True).json["data"]["landed"]) == 2


def test_a_target_that_moves_meanwhile_is_merged_and_verified_anew(scene: Scene) -> None:
    scene.workers("a", "b")
    other = scene.repo.parent / f"{scene.repo.name}-other"
    git(scene.repo, "worktree", "add", "--quiet", "--detach", str(other))
    moved = commit(other, "Somebody else", {"theirs": "x\n"})
    once = f"[ -e {other}/done ] || (touch {other}/done; git -C {scene.repo} merge --quiet --ff-only {moved})"
    done = scene.ww(*SHIP, "--json", WOODWIND_VERIFY_COMMAND=f"{once}; sh check.sh", check=True).json["data"]
    assert done["verifications"] == 2
    assert scene.files() == {"a", "b", "theirs"}
    assert git(scene.repo, "merge-base", moved, "main") == moved


def test_one_of_a_batch_can_be_taken_back_by_its_name(scene: Scene) -> None:
    made = scene.workers("a", "b", "c")
    scene.ww(*SHIP, check=True)
    last = scene.ww("undo", made[2]["name"], "--json", check=True).json["data"]["landing"]
    # It is where the target never was before, so it was verified first.
    assert (last["reverted"], last["verified"]) == (False, "passed")
    assert scene.files() == {"a", "b"}
    assert scene.ww("undo", made[0]["name"], "--json", check=True).json["data"]["landing"]["reverted"]
    assert scene.files() == {"b"}
    assert set(names(scene.box, scene.repo)) == {made[0]["name"], made[2]["name"]}
    waiting = {e["name"]: e["why"] for e in scene.ww("queue", "--json", check=True).json["data"]["waiting"]}
    assert waiting[made[0]["name"]].endswith(f"ww merge {made[0]['name']}")


def test_what_a_queue_landed_is_reverted_where_something_came_after_it(scene: Scene) -> None:
    scene.workers("a", "b")
    queue = scene.ww(*SHIP, "--json", check=True).json["data"]["queues"][0]
    commit(scene.repo, "After", {"after": "x\n"})
    done = scene.ww("undo", queue, "--json", check=True).json["data"]["queue"]
    assert (done["reverted"], len(done["restored"])) == (True, 2)
    assert scene.files() == {"after"}
    assert (scene.ww("undo", queue, "--json").json["error"]["code"]) == "not_undoable"


def test_what_was_asked_of_a_queue_that_was_cut_short_does_not_hold_for_others(scene: Scene) -> None:
    old, bad, good = (worker["name"] for worker in scene.workers("old", "broken", "good"))
    killed = scene.ww(*SHIP, "--no-verify", old, WOODWIND_FAILPOINT="queue.after_reserve")
    assert killed.code == -9
    done = scene.ww("ship", bad, good, "--yes", "--squash", "--json")
    assert done.code == 6, str(done)
    [landed] = done.json["data"]["landed"]
    assert (landed["name"], landed["method"], landed["verified"]) == (good, "squash", "passed")
    assert [entry["code"] for entry in done.json["data"]["failed"]] == ["not_verified"]
    assert scene.files() == {"good"}
    [unfinished] = scene.ww("queue", "--json", check=True).json["data"]["unfinished"]
    assert unfinished["entries"] == [{"name": old, "state": "waiting"}]
    [landed] = scene.ww(*SHIP, "--json", check=True).json["data"]["landed"]
    assert (landed["name"], landed["method"], landed["verified"]) == (old, "merge", "passed")
    assert scene.ww("queue", "--json", check=True).json["data"]["unfinished"] == []


def test_those_of_a_queue_that_was_cut_short_can_be_named_anew(scene: Scene) -> None:
    one, two = (worker["name"] for worker in scene.workers("one", "two"))
    assert scene.ww("ship", one, two, "--yes", WOODWIND_FAILPOINT="queue.after_commit").code == -9
    done = scene.ww("ship", two, one, "--yes", "--json", check=True).json["data"]
    assert {entry["name"]: entry["removed"] for entry in done["landed"]} == {one: True, two: True}
    assert names(scene.box, scene.repo) == []
    assert scene.ww("queue", "--json", check=True).json["data"]["unfinished"] == []


def test_two_queues_at_once_do_not_get_in_each_others_way(scene: Scene) -> None:
    scene.workers("a", "b")
    waiting, go_on = scene.box.root / f"{scene.repo.name}-waiting", scene.box.root / f"{scene.repo.name}-go"
    command = f"touch {waiting}; while [ ! -e {go_on} ]; do sleep 0.1; done"
    first = start(scene.box, scene.repo, *SHIP, env={"WOODWIND_VERIFY_COMMAND": command})
    try:
        scene.box.wait_for(waiting.exists, 60, "the first queue")
        done = scene.ww(*SHIP, "--json")
    finally:
        go_on.touch()
        first.communicate(timeout=100)
    assert (done.code, done.json["error"]["code"]) == (1, "busy")
    assert first.returncode == 0
    assert scene.files() == {"a", "b"}


def test_wrong_usage(scene: Scene) -> None:
    def code(*words: str) -> tuple[int, str]:
        done = scene.ww(*words, "--json")
        return done.code, done.json["error"]["code"]

    assert code(*SHIP) == (1, "nobody_ready")
    scene.workers("a")
    assert code("queue", "--ship") == (2, "usage")
    assert code(*SHIP, "--lanes", "0") == (2, "usage")
    assert code(*SHIP, "nobody") == (3, "no_worker")
    assert code("queue", "nobody") == (2, "usage")
    (scene.repo / "woodwind.toml").unlink()
    assert code(*SHIP) == (1, "no_verify_command")
    assert scene.tip() == scene.base


def test_an_agent_that_falls_out_is_told_why(scene: Scene) -> None:
    made = rehearse(scene.box, scene.repo, "say hello", name="teller", words=("--permissions", "bypass"))
    commit(Path(made["path"]), "Break it", {"broken": "x\n"})
    scene.box.wait_for(lambda: listed(scene.box, scene.repo, "teller")["status"] == "ready", 60, "a ready agent")
    done = scene.ww(*SHIP, "--json")
    assert done.code == 6, str(done)
    assert done.json["data"]["dropped"][0]["told"]
    scene.box.wait_for(
        lambda: any("was not landed in main" in str(e) for e in heard(scene.box, "UserPromptSubmit")), 60, "the message"
    )


def test_a_headless_worker_is_ready_when_its_agent_ended_well(scene: Scene) -> None:
    for name, *lines in (
        ("good", "write a.txt x", "commit Add a"),
        ("bad", "write b.txt x", "commit Add b", "fail no"),
    ):
        rehearse(scene.box, scene.repo, *lines, name=name, words=("--headless", "--permissions", "bypass"))
    for name in ("good", "bad"):
        scene.box.wait_for(partial(is_exited, scene, name), 60, f"{name} to end")
    shown = scene.ww("queue", "--json", check=True).json["data"]
    assert [entry["name"] for entry in shown["ready"]] == ["good"]
    assert [(entry["name"], entry["why"]) for entry in shown["waiting"]] == [("bad", "its last turn failed")]


def is_exited(scene: Scene, name: str) -> bool:
    return bool(listed(scene.box, scene.repo, name)["status"] == "exited")
