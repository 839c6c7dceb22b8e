"""Secrets of every kind, through the whole life of a worker: in no log, no row, no command line and no saved ref."""

import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from woodwind.testing.evidence import database
from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import wait_until

KINDS = ("variable", "login", "file", "address", "ticket", "ignored")
SECRETS = {kind: f"canary-{kind}-{os.getpid()}" for kind in KINDS}


class Lookout(threading.Thread):
    """Looks at the command lines of all processes, again and again, for as long as it is told to."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: set[bytes] = set()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.01):
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = entry.read_bytes()
                except OSError:
                    continue  # it ended meanwhile
                self.seen |= {line for secret in SECRETS.values() if secret.encode() in line}


def found_in(folder: Path, *, but_for: tuple[str, ...] = ()) -> list[str]:
    """Files below a folder that hold a secret, with which."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in but_for:
            data = path.read_bytes()
            found += [f"{path}: {kind}" for kind, secret in SECRETS.items() if secret.encode() in data]
    return found


def rows_with(box: Sandbox) -> list[str]:
    """Tables of the store that hold a secret, with which."""
    with closing(sqlite3.connect(database(box))) as db:
        text = "\n".join(db.iterdump())
    return [f"{line[:80]}: {kind}" for line in text.splitlines() for kind, s in SECRETS.items() if s in line]


def objects_with(box: Sandbox, repo: Path, *refs: str) -> list[str]:
    """The kinds of secrets that these refs lead to."""
    names = git(repo, "rev-list", "--objects", *refs).splitlines()
    asked = "".join(f"{line.split()[0]}\n" for line in names)
    text = box.run("git", "cat-file", "--batch", cwd=repo, input=asked, check=True).stdout
    return [kind for kind, secret in SECRETS.items() if secret in text]


def test_secrets_stay_where_they_are(sandbox: Sandbox, repo: Path) -> None:
    commit(repo, "Ignore secrets", {".gitignore": ".env*\n*.key\n"})
    (repo / ".env").write_text(f"TOKEN={SECRETS['file']}\nROOT={repo}\n")
    git(repo, "remote", "add", "origin", f"https://me:{SECRETS['address']}@127.0.0.1:1/o/r.git")
    with (repo / "woodwind.toml").open("a") as config:
        config.write('\n[agents.rehearsal]\npass_env = ["PYTHONPATH", "REHEARSAL_HOOK", "MY_TOKEN"]\n')
    bead = {"id": "lab-1", "title": "Use the token", "status": "open"}
    bead |= {"description": f"It is {SECRETS['ticket']}\n\nrehearse: say Hello"}
    programs = sandbox.home / "bin"
    programs.mkdir()
    (programs / "bd").write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps([bead])}\nEND\n")
    (programs / "bd").chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    sandbox.env |= {"MY_TOKEN": SECRETS["variable"], "GH_TOKEN": SECRETS["login"], "JIRA_API_TOKEN": SECRETS["login"]}
    sandbox.env |= {"JIRA_URL": "http://127.0.0.1:1", "JIRA_LOGIN": "me@x.example"}
    lookout = Lookout()
    lookout.start()
    said = ""

    def ww(*words: str) -> None:
        nonlocal said
        done = sandbox.ww(*words, cwd=repo)
        said += done.stdout + done.stderr

    ww("new", "--bead", "lab-1", "--agent", "rehearsal", "--name", "one")
    wait_until(sandbox, repo, "ready", "one")
    tree = Path(sandbox.ww("path", "one", cwd=repo, check=True).stdout.strip())
    assert SECRETS["file"] in (tree / ".env").read_text()
    assert SECRETS["ticket"] in (tree / ".woodwind" / "brief.md").read_text()
    (tree / "deploy.key").write_text(SECRETS["ignored"])
    commit(tree, "Work", {"a.txt": "a\n"})
    for words in (
        ("new", "--jira", "SHOP-1"), ("new", "--issue", "7"), ("new", "--pr", "7"), ("pr", "one"),
        ("ship", "one", "--pr"), ("ls",), ("show", "one"), ("log", "one"), ("explain", "one"), ("history",),
        ("doctor",), ("config", "show"), ("critic", "delete", "one"), ("forecast",), ("diff", "one"),
        ("send", "one", "rehearse: say Again"),
        ("sync", "one"), ("rm", "one", "--force", "--yes"), ("restore", "one"), ("resume", "one", "--fresh"),
        ("rm", "one", "--force", "--yes"), ("trash", "prune", "one", "--yes"), ("restore", "one"), ("show", "one"),
    ):  # fmt: skip
        ww(*words)
    lookout.done.set()
    lookout.join()
    # Git itself names the address to its own helper, as it does for `git fetch`.
    assert [line for line in lookout.seen if b"remote-https\0" not in line] == []
    assert [kind for kind, secret in SECRETS.items() if secret in said] == []
    # The brief is there to hold the ticket's text; nothing else of ours does.
    assert found_in(Path(sandbox.env["XDG_STATE_HOME"]), but_for=("brief.md",)) == []
    assert found_in(Path(sandbox.env["XDG_RUNTIME_DIR"])) == []
    assert rows_with(sandbox) == []
    assert objects_with(sandbox, repo, "--branches", "--tags") == []
    assert objects_with(sandbox, repo, "--all") == ["ticket"]  # the brief, in a saved ref, which no plain push sends
