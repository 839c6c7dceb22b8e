"""Tasks made of pieces that mean something to a shell, tmux, git, a terminal or a path: each stays text."""

import os
import random
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
TEXTS = 300 if LONG else 6

# In capitals, which no name that is made from a task has.
PIECES = [
    *("$(touch CANARY)", "`touch CANARY`", "; touch CANARY", "| touch CANARY", "& touch CANARY"),
    *("> CANARY", "\ntouch CANARY\n", "${IFS}", "$$", "!!"),
    *("#(touch CANARY)", "##(touch CANARY)", "#{pid}", "#[fg=red]", "%if 1", "%%", "%1", "{ }", "~root", "$HOME"),
    *("\x1b[31m", "\x1b]0;owned\x07", "\x1b]2;owned\x1b\\", "\x1b]52;c;eA==\x07", "\x9b31m", "\x1bP+q\x1b\\"),
    *("\x07", "\x08", "\r"),
    *("\u202e", "\u2066", "\u200b", "\ufeff", "e\u0301", "👩\u200d💻", "修复", "ß", "İ", "\U000e0041"),
    *("../../etc/passwd", "/etc/passwd", "..", ".", "C:\\x", ".git", ".lock", "a.lock", "@{"),
    *("^", "~1", ":", "?", "*", "[x]"),
    *("-rf", "--force", "--help", "--", "-", "'", '"', "\\", "{name}", "{0}", "%s", "%n"),
    *("<script>alert(1)</script>", "```", "# Heading", "---", "\t", "\0", "x" * 3000, "word", "fix", "add"),
]  # fmt: skip
# What no terminal may be sent from a text of ours.
RAW = ("\x1b", "\x07", "\x08", "\0", "\x9b", "\u202e", "\u2066")


@pytest.mark.timeout(7200 if LONG else 120)
def test_no_mixture_is_more_than_text(sandbox: Sandbox, repo: Path) -> None:
    chance = random.Random(31)
    task = sandbox.home / "task"
    for n in range(TEXTS):
        text = chance.choice(["", " "]).join(chance.choices(PIECES, k=chance.randint(1, 8)))
        task.write_bytes(text.encode())
        made = sandbox.ww("new", "--json", "--file", str(task), cwd=repo)
        if made.code == 2:
            assert made.json["error"]["message"] == "there is no task", (n, text)
            continue
        assert made.code == 0, (n, text, made)
        [worker] = made.json["data"]["workers"]
        tree = Path(worker["path"])
        assert tree.parent == repo.parent / "project.worktrees", (n, text)
        assert git(tree, "symbolic-ref", "--short", "HEAD") == worker["branch"], (n, text)
        shown = [sandbox.ww(*words, cwd=repo, check=True) for words in (["ls"], ["show", worker["name"]])]
        told = "".join(done.stdout + done.stderr for done in shown) + (tree / ".woodwind" / "brief.md").read_text()
        assert not [raw for raw in RAW if raw in told], (n, text)
        assert sandbox.tmux("list-panes", "-a", "-F", "#{session_name} #{window_name}").isascii(), (n, text)
        assert not list(sandbox.root.rglob("CANARY*")), (n, text)
        sandbox.ww("rm", worker["name"], "--yes", cwd=repo, check=True)
        sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    assert leftovers(sandbox, repo) == []
