"""The issue's own story, as a new user types it."""

from pathlib import Path

from woodwind.testing.sandbox import Sandbox


def test_new_ls_rm_restore(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert worker["name"] == "add-greeting"
    tree = Path(worker["path"])
    (tree / "notes.txt").write_text("mine\n")

    refused = sandbox.ww("rm", "add-greeting", "--yes", cwd=repo)
    assert refused.code == 1
    assert "1 untracked file (notes.txt)" in refused.stderr
    assert (tree / "notes.txt").read_text() == "mine\n"

    sandbox.ww("rm", "add-greeting", "--force", "--yes", cwd=repo, check=True)
    assert not tree.exists()
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"] == []

    sandbox.ww("restore", "add-greeting", cwd=repo, check=True)
    assert (tree / "notes.txt").read_text() == "mine\n"
