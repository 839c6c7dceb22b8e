"""`ww branch` and `ww new --in-place`: a worker in the user's own checkout, which loses nothing by it."""

from pathlib import Path

import pytest

from woodwind.ops.remove import Leave
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox

FAILPOINTS = [
    f"branch.{when}_{step}" for step in ("branch", "switch", "brief", "terminal") for when in ("before", "after")
]
LEAVING = [f"leave.{when}_{step}" for step in ("save", "stop", "switch") for when in ("before", "after")]


def branch_of(repo: Path) -> str:
    return git(repo, "symbolic-ref", "--short", "HEAD").strip()


def listed(sandbox: Sandbox, repo: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    return found


def test_the_checkout_is_switched_and_comes_back(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("branch", "Add a greeting", cwd=repo, check=True)
    assert branch_of(repo) == "feat/add-greeting"
    [worker] = listed(sandbox, repo)
    assert worker["path"] == str(repo)
    assert git(repo, "status", "--porcelain") == ""
    log = sandbox.wait_for(lambda: sandbox.ww("log", cwd=repo).stdout, what="its agent")
    assert str(repo) in log
    assert sandbox.ww("exec", "add-greeting", "--", "pwd", cwd=repo, check=True).stdout.strip() == str(repo)

    removed = sandbox.ww("rm", "add-greeting", "--yes", cwd=repo, check=True)
    assert "stays" in removed.stdout
    assert branch_of(repo) == "main"
    assert not (repo / ".woodwind").exists()
    assert listed(sandbox, repo) == []
    assert "feat/add-greeting" in git(repo, "branch", "--list", "feat/*")

    sandbox.ww("restore", "add-greeting", cwd=repo, check=True)
    assert branch_of(repo) == "feat/add-greeting"
    assert [w["name"] for w in listed(sandbox, repo)] == ["add-greeting"]


def test_it_is_cut_from_the_current_branch(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "switch", "--quiet", "--create", "develop")
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "More")
    made = sandbox.ww("new", "Do it", "--in-place", "--json", cwd=repo, check=True).json["data"]["workers"][0]
    assert (made["base_branch"], made["base_commit"]) == ("develop", git(repo, "rev-parse", "develop").strip())


@pytest.mark.parametrize(
    "spoil, code",
    [
        ("changed", "dirty"),
        ("staged", "dirty"),
        ("untracked", "dirty"),
        ("merging", "under_way"),
    ],
)
def test_a_checkout_that_is_not_clean_is_refused_and_left_alone(
    sandbox: Sandbox, repo: Path, spoil: str, code: str
) -> None:
    if spoil == "merging":
        (repo / ".git" / "MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD"))
    elif spoil == "untracked":
        (repo / "mine.txt").write_text("mine")
    else:
        (repo / "README.md").write_text("changed\n")
        if spoil == "staged":
            git(repo, "add", "README.md")
    before = (git(repo, "status", "--porcelain=v2"), git(repo, "for-each-ref"), branch_of(repo))
    refused = sandbox.ww("branch", "Do it", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, code)
    assert (git(repo, "status", "--porcelain=v2"), git(repo, "for-each-ref"), branch_of(repo)) == before
    assert listed(sandbox, repo) == []


def test_a_stash_is_never_touched(sandbox: Sandbox, repo: Path) -> None:
    (repo / "README.md").write_text("stashed\n")
    git(repo, "stash", "--quiet")
    before = git(repo, "stash", "list", "--format=%H %gs")
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    assert git(repo, "stash", "list", "--format=%H %gs") == before


def test_only_one_worker_can_be_in_it(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    refused = sandbox.ww("branch", "Do it", "--name", "two", "--json", cwd=repo)
    assert refused.json["error"]["code"] == "occupied"
    assert [w["name"] for w in listed(sandbox, repo)] == ["one"]
    assert sandbox.ww("new", "Do it", "-n", "2", "--in-place", cwd=repo).code == 2


def test_uncommitted_work_stays_in_the_checkout(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    (repo / "README.md").write_text("work in progress\n")
    (repo / "new.txt").write_text("new\n")
    assert sandbox.ww("rm", "one", "--yes", cwd=repo).code == 1
    forced = sandbox.ww("rm", "one", "--force", "--yes", cwd=repo, check=True)
    assert "your checkout stays on feat/do, with its changes" in forced.stderr
    assert (repo / "README.md").read_text() == "work in progress\n"
    assert (repo / "new.txt").read_text() == "new\n"
    assert branch_of(repo) == "feat/do"
    refused = sandbox.ww("restore", "one", "--json", cwd=repo)
    assert refused.json["error"]["code"] == "dirty"


def test_an_ignored_file_is_not_overwritten_on_the_way_back(sandbox: Sandbox, repo: Path) -> None:
    with (repo / ".git" / "info" / "exclude").open("a") as file:
        file.write("*.secret\n")
    key = repo / "key.secret"
    key.write_text("the branch's\n")
    git(repo, "add", "--force", "key.secret")
    git(repo, "commit", "--quiet", "-m", "Add a key")
    sandbox.ww("branch", "Do it", "--name", "here", cwd=repo, check=True)
    git(repo, "rm", "--quiet", "key.secret")
    git(repo, "commit", "--quiet", "-m", "Remove it")
    key.write_text("mine\n")
    done = sandbox.ww("rm", "here", "--force", "--yes", cwd=repo, check=True)
    assert "key.secret" in done.stdout + done.stderr
    assert branch_of(repo) != "main"
    assert key.read_text() == "mine\n"


def test_pruning_one_that_left_deletes_nothing_of_the_user(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    (repo / "a.txt").write_text("a\n")
    git(repo, "add", "a.txt")
    git(repo, "commit", "--quiet", "-m", "Work")
    tip = git(repo, "rev-parse", "HEAD").strip()
    sandbox.ww("rm", "one", "--force", "--yes", cwd=repo, check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    assert (repo / "README.md").exists()
    assert git(repo, "rev-parse", "feat/do").strip() == tip


def test_the_store_can_be_rebuilt_with_it(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    for file in (Path(sandbox.env["XDG_STATE_HOME"]) / "woodwind").glob("woodwind.db*"):
        file.unlink()
    assert [w["name"] for w in listed(sandbox, repo)] == ["one"]


@pytest.mark.parametrize("failpoint", [*FAILPOINTS, "create.after_reserve"])
def test_a_kill_while_it_is_made_leaves_the_checkout_as_it_was(sandbox: Sandbox, repo: Path, failpoint: str) -> None:
    refs = git(repo, "for-each-ref")
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, env={"WOODWIND_FAILPOINT": failpoint})
    assert listed(sandbox, repo) == []
    assert branch_of(repo) == "main"
    assert git(repo, "for-each-ref") == refs
    assert not (repo / ".woodwind").exists()
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    assert branch_of(repo) == "feat/do"


@pytest.mark.parametrize("failpoint", LEAVING)
def test_a_kill_while_it_leaves_is_settled_by_the_next_command(sandbox: Sandbox, repo: Path, failpoint: str) -> None:
    sandbox.ww("branch", "Do it", "--name", "one", cwd=repo, check=True)
    sandbox.ww("rm", "one", "--yes", cwd=repo, env={"WOODWIND_FAILPOINT": failpoint})
    left = listed(sandbox, repo) == []
    assert branch_of(repo) == ("main" if left else "feat/do")
    assert "feat/do" in git(repo, "branch", "--list", "feat/*")
    if not left:
        sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
        assert branch_of(repo) == "main"


def test_every_step_is_killed_at() -> None:
    tried = {point.partition(".after_")[2] for point in LEAVING if ".after_" in point}
    assert {step.name for step in Leave(None, {}).steps()} == tried  # type: ignore[arg-type]
