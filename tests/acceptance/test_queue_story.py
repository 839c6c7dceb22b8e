"""Twelve workers, of which two conflict, one breaks the tests only together with another, and one is not committed."""

import subprocess
from pathlib import Path

from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names, rehearse

CHECK = """\
[ -e left ] && [ -e right ] && { echo "left and right do not go together"; exit 1; }
exit 0
"""
CONFIG = '[verify]\ncommand = "sh check.sh"\n'


def passes(repo: Path, scratch: Path, commit_id: str) -> bool:
    git(repo, "worktree", "add", "--quiet", "--detach", str(scratch), commit_id)
    try:
        return subprocess.run(["sh", "check.sh"], cwd=scratch, check=False, capture_output=True).returncode == 0
    finally:
        git(repo, "worktree", "remove", "--force", str(scratch))


def part(n: int) -> list[str]:
    return [f"write part-{n} done\\n", f"commit Work {n}"]


# What the twelve do: all but the last commit it.
SCRIPTS = [
    [*part(0), "write left left\\n", "commit Left"],
    *(part(n) for n in range(1, 8)),
    ["write shared first\\n", "commit Conflict, first"],
    ["write shared second\\n", "write more " + r"x\n" * 9, "commit Conflict, second"],
    ["write right " + r"right\n" * 5, "commit Right"],
    ["write uncommitted not committed\\n", "say I left it as it is"],
]


def test_the_queue_lands_exactly_the_right_ones_and_undo_brings_all_back(sandbox: Sandbox) -> None:
    repo = make_repo(sandbox.home / "project", files={"check.sh": CHECK, "woodwind.toml": CONFIG, "shared": "one\n"})
    before = git(repo, "rev-parse", "main")
    auto = ("--permissions", "auto")
    workers = [rehearse(sandbox, repo, *lines, name=f"w{n}", words=auto) for n, lines in enumerate(SCRIPTS)]
    trees = [Path(w["path"]) for w in workers]

    def all_done() -> bool:
        listed = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        return [(w["turn"] or {}).get("state") for w in listed] == ["done"] * len(SCRIPTS)

    sandbox.wait_for(all_done, 120, "all twelve agents to be done")

    shown = sandbox.ww("queue", "--json", cwd=repo, check=True).json["data"]
    assert len(shown["ready"]) == 12
    assert [e["name"] for e in shown["ready"] if not e["will_merge"]] == [workers[9]["name"]]

    done = sandbox.ww("queue", "--ship", "--yes", "--json", cwd=repo, timeout=200)
    assert done.code == 6, str(done)
    data = done.json["data"]
    out = {workers[9]["name"]: "conflicts with main in shared", workers[10]["name"]: "`sh check.sh` failed"}
    assert {d["name"] for d in data["dropped"]} == set(out), str(done)
    for entry in data["dropped"]:
        assert out[entry["name"]] in entry["why"]
    landed = [w["name"] for w in workers if w["name"] not in out]
    assert {e["name"] for e in data["landed"]} == set(landed)
    assert [e["name"] for e in data["landed"] if e["committed"]] == [workers[11]["name"]]
    assert set(names(sandbox, repo)) == set(out), str(done)
    for n in range(8):
        assert (repo / f"part-{n}").read_text() == "done\n"
    assert (repo / "shared").read_text() == "first\n"
    assert (repo / "uncommitted").read_text() == "not committed\n"
    assert not (repo / "right").exists()

    seen = git(repo, "reflog", "show", "--format=%H", "main").split()
    assert 2 <= len(set(seen)) <= 3
    for n, commit_id in enumerate(dict.fromkeys(seen)):
        assert passes(repo, sandbox.root / f"scratch-{n}", commit_id), commit_id

    sandbox.ww("undo", cwd=repo, check=True, timeout=200)
    assert git(repo, "rev-parse", "main") == before
    assert git(repo, "status", "--porcelain") == ""
    assert set(names(sandbox, repo)) == {w["name"] for w in workers}
    assert (trees[11] / "uncommitted").read_text() == "not committed\n"
    assert all((tree / f"part-{n}").exists() for n, tree in enumerate(trees[:8]))
