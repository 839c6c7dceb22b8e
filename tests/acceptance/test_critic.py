"""`ww critic`, and what it keeps `ww rm` from, as a user sees it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as box:
        make_repo(box.home / "project", files={"app.py": "print()\n"})
        yield box


def worker(box: Sandbox, name: str) -> Path:
    made = box.ww("new", "Work", "--no-agent", "--name", name, "--json", cwd=box.home / "project", check=True)
    return Path(made.json["data"]["workers"][0]["path"])


def critic(box: Sandbox, verb: str, name: str, *, code: int, cwd: Path | None = None) -> dict[str, Any]:
    done = box.ww("critic", verb, name, "--json", cwd=cwd or box.home / "project")
    assert done.code == code, str(done)
    found: dict[str, Any] = done.json["data"]
    return found


def checks(data: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(f["level"], f["check"], f["path"]) for f in data["findings"]}


def test_what_is_uncommitted_counts_for_ship_and_not_for_merge(box: Sandbox) -> None:
    tree = worker(box, "one")
    assert checks(critic(box, "ship", "one", code=1)) == {("block", "empty", "")}
    (tree / "key.py").write_text(f"TOKEN = '{TOKEN}'\n")
    (tree / "big.bin").write_bytes(b"\0" * (21 << 20))
    data = critic(box, "ship", "one", code=1)
    assert checks(data) == {("block", "secrets", "key.py"), ("block", "large", "big.bin")}
    assert TOKEN not in str(data)
    assert ("block", "uncommitted", "") in checks(critic(box, "merge", "one", code=1))
    (tree / "big.bin").unlink()
    (tree / "key.py").write_text("import os\nbreakpoint()\n")
    commit(tree, "Fine")
    assert checks(critic(box, "merge", "one", code=0)) == {("warn", "debug", "key.py")}
    shown = box.ww("critic", "merge", "one", cwd=box.home / "project", check=True).stdout
    assert shown == "warn  debug: key.py:2: a breakpoint\n"


def test_a_worktree_cannot_set_the_rules_for_itself(box: Sandbox) -> None:
    tree = worker(box, "two")
    commit(tree, "Quiet", {"woodwind.toml": '[critic]\nsecrets = "off"\n', "token.py": f"TOKEN = '{TOKEN}'\n"})
    assert ("block", "secrets", "token.py") in checks(critic(box, "ship", "two", code=1, cwd=tree))
    project = box.home / "project"
    (project / "woodwind.toml").write_text('[critic]\nsecrets = "warn"\n')
    assert checks(critic(box, "ship", "two", code=0, cwd=tree)) == {("warn", "secrets", "token.py")}
    (project / "woodwind.toml").unlink()


def test_the_critic_says_no_where_it_cannot_look(box: Sandbox) -> None:
    tree = worker(box, "three")
    commit(tree, "Fine", {"a": "a\n"})
    tree.rename(tree.with_name("elsewhere"))
    assert checks(critic(box, "ship", "three", code=1)) == {("block", "critic", "")}
    tree.with_name("elsewhere").rename(tree)
    assert checks(critic(box, "ship", "three", code=0)) == set()


def test_after_three_denials_in_a_row_a_person_is_needed(box: Sandbox) -> None:
    tree, project = worker(box, "four"), box.home / "project"
    commit(tree, "Only here", {"only.txt": "only\n"})
    assert checks(critic(box, "delete", "four", code=1)) == {("block", "unmerged", "")}
    codes = []
    for _ in range(4):
        done = box.ww("rm", "four", "--yes", "--json", cwd=project)
        codes.append((done.code, done.json["error"]["code"]))
    assert codes == [(1, "has_work")] * 2 + [(6, "denied_too_often")] * 2
    assert critic(box, "delete", "four", code=1)["denials"] == {"in_a_row": 4, "in_all": 4}
    assert tree.is_dir()


def test_merge_and_ship_ask_the_critic(box: Sandbox) -> None:
    tree, project = worker(box, "five"), box.home / "project"
    commit(tree, "A key", {"five.py": f"TOKEN = '{TOKEN}'\n"})
    before = git(project, "rev-parse", "main")
    for command in (("merge", "five", "--no-verify"), ("ship", "five", "--no-verify", "--yes")):
        done = box.ww(*command, "--json", cwd=project)
        assert (done.code, done.json["error"]["code"]) == (1, "critic"), str(done)
        assert "five.py:1: what looks like a GitHub token" in done.json["error"]["message"]
    assert git(project, "rev-parse", "main") == before
    commit(tree, "No key", {"five.py": "breakpoint()\n"})
    done = box.ww("merge", "five", "--no-verify", cwd=project, check=True)
    assert "five.py:1: a breakpoint" in done.stderr
    assert critic(box, "merge", "five", code=1)["denials"] == {"in_a_row": 0, "in_all": 2}
