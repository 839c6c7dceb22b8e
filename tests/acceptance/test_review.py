"""`ww review` as a user sees it: files and lines, comments kept, told when their line changed, and sent as one."""

from pathlib import Path
from typing import Any

from woodwind.testing.repo import commit
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import heard, listed, new_worker, rehearse

APP = "one\ntwo\nthree\n"


def test_the_difference_is_shown_with_line_numbers(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"app.py": APP})
    (tree / "app.py").write_text(APP + "uncommitted\n")
    (tree / "new.py").write_text("untracked\n")
    shown = sandbox.ww("review", "worker-one", cwd=repo, check=True).stdout
    assert "app.py  (added, +4 -0)" in shown
    assert "    4 +uncommitted" in shown
    assert "new.py  (added, +1 -0)" in shown
    data = sandbox.ww("review", "worker-one", "--json", cwd=repo, check=True).json["data"]
    assert [(f["path"], f["status"], f["added"]) for f in data["files"]] == [
        ("app.py", "added", 4),
        ("new.py", "added", 1),
    ]


def test_wrong_places_are_errors(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"src/app.py": APP})

    def error(place: str, text: str = "x") -> tuple[int, str]:
        done = sandbox.ww("review", "worker-one", "--comment", place, text, "--json", cwd=repo)
        return done.code, done.json["error"]["code"]

    assert error("src/app.py:4") == (3, "no_such_line")
    assert error("src/app.py:0") == (3, "no_such_line")
    assert error("app.py:1") == (3, "no_such_line")
    assert error("../project/src/app.py:1") == (3, "no_such_line")
    assert error("src:1") == (3, "no_such_line")
    assert error("src/app.py") == (2, "usage")
    assert error("src/app.py:x") == (2, "usage")
    assert error("src/app.py:1", "  ") == (2, "usage")
    assert sandbox.ww("review", "worker-one", "--send", "--json", cwd=repo).json["error"]["code"] == "no_comments"
    sandbox.ww("review", "--comment", "app.py:1", "from inside", cwd=tree / "src", check=True)
    assert "src/app.py:1" in sandbox.ww("review", "worker-one", "--list", cwd=repo, check=True).stdout


def test_comments_are_kept_told_of_and_sent_as_one_message(sandbox: Sandbox, repo: Path) -> None:
    made = rehearse(sandbox, repo, "say hello")
    tree = Path(made["path"])
    sandbox.wait_for(lambda: listed(sandbox, repo)["status"] == "ready", 60, "the agent to be ready")
    (tree / "app.py").write_text(APP)
    sandbox.ww(
        "review",
        "worker-one",
        "--comment",
        "app.py:2",
        "why two?",
        "-c",
        "app.py:3",
        "and three?",
        cwd=repo,
        check=True,
    )
    (tree / "app.py").write_text("zero\none\nTWO\nthree\n")

    def kept() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = sandbox.ww("review", "worker-one", "--list", "--json", cwd=repo, check=True).json[
            "data"
        ]["comments"]
        return found

    assert [(c["line"], c["now"], c["changed"]) for c in kept()] == [(2, 0, True), (3, 4, False)]
    assert (
        "app.py:2 (the line has changed since): two" in sandbox.ww("review", "worker-one", cwd=repo, check=True).stdout
    )
    assert sandbox.ww("review", "worker-one", "--send", cwd=repo, check=True).stdout == "2 comments sent.\n"
    sandbox.wait_for(
        lambda: any("why two?" in str(e) and "and three?" in str(e) for e in heard(sandbox, "UserPromptSubmit")),
        60,
        "the agent to have both comments",
    )
    assert kept() == []


def test_comments_can_be_taken_back(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    (tree / "app.py").write_text(APP)
    sandbox.ww("review", "worker-one", "--comment", "app.py:2", "why two?", cwd=repo, check=True)
    assert sandbox.ww("review", "worker-one", "--clear", cwd=repo, check=True).stdout == "1 comment cleared.\n"
    assert sandbox.ww("review", "worker-one", "--list", cwd=repo, check=True).stdout == "No comments are kept.\n"
