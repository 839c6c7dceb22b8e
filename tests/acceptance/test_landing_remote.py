"""Landing where teams land: by a push to a remote branch, or as a pull request through the real `gh`."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.evidence import rows
from woodwind.testing.github_server import GitHubServer
from woodwind.testing.plans import adds, await_run, await_task, begin_run, run_status, states_of, write_plan
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import new_worker

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Scene:
    """A clone of a bare repository, where somebody else pushes too, and a worker with a commit."""

    def __init__(self, box: Sandbox, name: str, url: str = "") -> None:
        self.box = box
        self.repo = make_repo(box.home / name, files={"app.py": "print()\n"})
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
        self.configure("true")
        self.hub = box.home / f"{name}.git"
        git(box.home, "clone", "-q", "--bare", str(self.repo), str(self.hub))
        git(self.repo, "remote", "add", "origin", url or str(self.hub))
        self.else_ = box.home / f"{name}-else"
        git(box.home, "clone", "-q", str(self.hub), str(self.else_))
        for key in ("name", "email"):
            git(self.else_, "config", f"user.{key}", "somebody@example.invalid")
        self.tree = new_worker(box, self.repo, "one")
        self.tip = commit(self.tree, "Add the new file", {"new.txt": "new\n"})

    def configure(self, command: str, via: str = "push") -> None:
        (self.repo / "woodwind.toml").write_text(f"{TOY}[verify]\ncommand = '''{command}'''\n[land]\nvia = \"{via}\"\n")

    def ww(self, *words: str, check: bool = False, **env: str) -> Result:
        return self.box.ww(*words, cwd=self.repo, env=env, check=check)

    def there(self) -> str:
        return git(self.hub, "rev-parse", "main")

    def meanwhile(self, name: str = "theirs.txt") -> str:
        git(self.else_, "pull", "-q", "--rebase")
        new = commit(self.else_, "Theirs", {name: "theirs\n"})
        git(self.else_, "push", "-q")
        return new


@pytest.fixture
def scene(box: Sandbox) -> Scene:
    return Scene(box, f"project-{len(list(box.home.iterdir()))}")


def test_a_push_lands_on_what_the_remote_has_and_the_local_branch_follows(scene: Scene) -> None:
    theirs = scene.meanwhile()
    (scene.repo / "notes.txt").write_text("untracked\n")
    done = scene.ww("ship", "one", "--yes", "--json", check=True).json["data"]["landed"][0]
    assert (done["from"], done["to"]) == (theirs, scene.there())
    assert git(scene.repo, "rev-parse", "main") == scene.there()
    assert [(scene.repo / name).exists() for name in ("new.txt", "theirs.txt", "notes.txt")] == [True] * 3
    undone = scene.ww("undo", "--json", check=True).json["data"]["landing"]
    assert undone["reverted"]  # a remote branch only ever goes forward
    assert "new.txt" not in git(scene.hub, "ls-tree", "--name-only", "main")
    assert scene.tree.exists()


def test_a_remote_that_moves_while_verifying_is_merged_and_verified_again(scene: Scene) -> None:
    once = scene.box.home / f"{scene.repo.name}-once"
    push = f"cd {scene.else_} && git commit -q --allow-empty -m Theirs && git push -q"
    scene.configure(f"test -e {once} || {{ touch {once}; {push}; }}")
    done = scene.ww("merge", "one", "--json", check=True).json["data"]["landed"][0]
    assert git(scene.hub, "log", "-1", "--format=%s", done["from"]) == "Theirs"
    assert done["to"] == scene.there()


@pytest.mark.parametrize("how", ["diverged", "ahead"])
def test_branches_that_differ_are_refused_with_both_named(scene: Scene, how: str) -> None:
    mine = commit(scene.repo, "Mine", {"mine.txt": "mine\n"})
    theirs = scene.meanwhile() if how == "diverged" else scene.there()
    error = scene.ww("merge", "one", "--json").json["error"]
    assert error["code"] == "diverged"
    assert mine[:10] in error["message"]
    assert theirs[:10] in error["message"]
    assert scene.there() == theirs
    error = scene.ww("queue", "--ship", "--yes", "one", "--json").json["error"]
    assert error["code"] == "diverged"  # which nobody in the queue is to blame for
    assert rows(scene.box, "SELECT worker FROM landing_queue_entry WHERE state = 'dropped'") == []


def test_a_push_that_the_remote_refuses_lands_nothing(scene: Scene) -> None:
    hook = scene.hub / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho main is protected\nexit 1\n")
    hook.chmod(0o755)
    before = scene.there(), git(scene.repo, "rev-parse", "main")
    error = scene.ww("merge", "one", "--json").json["error"]
    assert error["code"] == "push_refused"
    assert "main is protected" in error["message"]
    assert (scene.there(), git(scene.repo, "rev-parse", "main")) == before
    assert rows(scene.box, "SELECT id FROM operation WHERE state = 'running'") == []


@pytest.mark.parametrize("point, arrived", [("push.before", False), ("push.after", True)])
def test_after_a_crash_during_a_push_the_remote_is_asked(scene: Scene, point: str, arrived: bool) -> None:
    before = scene.there()
    assert scene.ww("merge", "one", WOODWIND_FAILPOINT=point).code == -9
    assert (scene.there() != before) == arrived
    away = scene.hub.rename(f"{scene.hub}.away")
    unsure = scene.ww("ls")
    assert "could not be settled" in unsure.stderr
    assert rows(scene.box, "SELECT kind FROM operation WHERE state = 'running'") == [("land",)]
    away.rename(scene.hub)
    scene.ww("ls", check=True)
    assert rows(scene.box, "SELECT kind FROM operation WHERE state = 'running'") == []
    [entry] = scene.ww("history", "--failed", "--json", check=True).json["data"]
    assert entry["state"] == ("done" if arrived else "failed")
    assert (git(scene.repo, "rev-parse", "main") != before) == arrived


def test_a_pull_request_is_opened_once_and_then_brought_up_to_date(box: Sandbox) -> None:
    scene = Scene(box, "with-github", "git@github.com:o/r.git")
    programs = f"{Path(sys.executable).parent}:{box.env['PATH']}"
    assert shutil.which("gh", path=programs)
    with GitHubServer(box.root / "gh", scene.hub) as github:
        env = {**github.env, "PATH": programs}
        first = scene.ww("pr", "one", "--json", check=True, **env).json["data"]
        assert not first["existed"]
        made = github.pulls[first["number"]]
        assert (made["headRefName"], made["baseRefName"]) == (first["branch"], "main")
        assert first["url"] == made["url"]
        assert "Add the new file" in made["body"]
        assert git(scene.hub, "rev-parse", first["branch"]) == scene.tip
        more = commit(scene.tree, "More", {"more.txt": "more\n"})
        again = scene.ww("pr", "one", check=True, **env)
        assert made["url"] in again.stdout
        assert git(scene.hub, "rev-parse", first["branch"]) == more
        assert list(github.pulls) == [first["number"]]
        # [land] via = "pr": a ship commits, pushes and says where it is; the worker stays until it is merged there.
        scene.configure("true", "pr")
        (scene.tree / "dirty.txt").write_text("dirty\n")
        [shipped] = scene.ww("ship", "one", "--yes", "--json", check=True, **env).json["data"]["landed"]
        assert (shipped["url"], shipped["removed"]) == (made["url"], False)
        assert git(scene.hub, "show", f"{first['branch']}:dirty.txt") == "dirty"
        nobody = box.ww("pr", "one", "--json", cwd=scene.repo, env={**env, "GH_TOKEN": ""})
        assert nobody.json["error"]["code"] == "no_tracker", nobody
    assert git(scene.hub, "rev-parse", "main") == git(scene.repo, "rev-parse", "main")


def test_a_run_on_a_branch_of_its_own_meets_here_and_is_pushed_at_its_end(scene: Scene) -> None:
    theirs = scene.meanwhile()
    tasks = {"first": adds("first"), "second": adds("second")}
    plan = write_plan(scene.box.home / "into.toml", tasks, after={"second": ["first"]})
    run = begin_run(scene.box, scene.repo, plan, "--auto-ship")
    told = await_run(scene.box, scene.repo, run)
    assert states_of(told) == {"first": "landed", "second": "landed", "ship the branch": "landed"}, told
    names = git(scene.hub, "ls-tree", "--name-only", "main").split()
    assert {"first.txt", "second.txt", "theirs.txt"} <= set(names)
    assert git(scene.hub, "merge-base", "main", theirs) == theirs


def test_tasks_that_each_reach_the_base_are_pushed_and_their_children_start_from_there(scene: Scene) -> None:
    theirs = scene.meanwhile()
    tasks = {"first": adds("first"), "second": ["run cp first.txt second.txt", "commit Add second", "say Added"]}
    plan = write_plan(scene.box.home / "ship.toml", tasks, after={"second": ["first"]}, mode="ship", branch="")
    run = begin_run(scene.box, scene.repo, plan, "--auto-ship")
    told = await_run(scene.box, scene.repo, run)
    assert states_of(told) == {"first": "landed", "second": "landed"}, told
    assert git(scene.hub, "show", "main:second.txt") == "made by first"
    assert git(scene.hub, "merge-base", "main", theirs) == theirs
    assert git(scene.hub, "rev-parse", "main") == git(scene.repo, "rev-parse", "main")


def test_nothing_counts_as_landed_for_a_run_before_its_pull_request_is_merged(box: Sandbox) -> None:
    scene = Scene(box, "pr-run", "git@github.com:o/r.git")
    scene.configure("true", "pr")
    tasks = {"one": adds("one"), "two": adds("two")}
    plan = write_plan(box.home / "pr.toml", tasks, after={"two": ["one"]}, mode="ship", branch="")
    refused = scene.ww("run", str(plan), "--permissions", "auto", "--auto-ship", "--detach", "--json").json["error"]
    assert refused["code"] == "pull_requests_only"
    (scene.repo / "TODO.md").write_text("# One\n\n- [ ] A thing\n")
    loop = ("loop", "start", "--source", "markdown:TODO.md", "--epics", "one", "--agent", "rehearsal")
    assert scene.ww(*loop, "--permissions", "auto", "--json").json["error"]["code"] == "pull_requests_only"
    run = begin_run(box, scene.repo, plan)
    worker = await_task(box, scene.repo, run, "one", "ready")["worker"]
    programs = f"{Path(sys.executable).parent}:{box.env['PATH']}"
    with GitHubServer(box.root / "gh-run", scene.hub) as github:
        env = {**github.env, "PATH": programs}
        opened = scene.ww("pr", worker, "--json", check=True, **env).json["data"]
    assert run_status(box, scene.repo, run)["tasks"]["one"]["state"] == "ready"
    assert "one.txt" not in git(scene.hub, "ls-tree", "--name-only", "main")
    git(scene.repo, "merge", "--quiet", "--no-ff", "-m", "Merged upstream", opened["branch"])
    await_task(box, scene.repo, run, "two", "ready")
    box.ww("run", "stop", run, cwd=scene.repo, check=True)
