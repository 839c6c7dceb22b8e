"""Three hundred strings that try to be more than text, in every field of a ticket and wherever it goes."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from woodwind.model import naming
from woodwind.model.brief import BriefFacts, build
from woodwind.model.text import clean, fit, one_line
from woodwind.model.ticket import Comment, Ticket, tidy, web_address
from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
WORD = f"canary_{os.getpid()}"  # of this test alone on the machine, and no name that is made from a text can hold it
DO = f"touch {WORD}"
PAYLOADS = [
    f"$({DO})", f"`{DO}`", f"; {DO};", f"| {DO}", f"&& {DO}", f"& {DO} &", f"\n{DO}\n", f"\r{DO}\r", f"'; {DO}; '",
    f'"; {DO}; "', f"\\\n{DO}", f"${{IFS}}touch${{IFS}}{WORD}", f">{WORD}", f"<({DO})", f"#({DO})", f"##({DO})",
    f"#{{E:#({DO})}}", f"%({DO})", f"%if 1\nrun-shell '{DO}'\n%endif", f"--upload-pack={DO}", f"-oProxyCommand={DO}",
    f"ext::sh -c {DO}", f"--output={WORD}", f"--file={WORD}", "-rf /", "--help", f"../../../{WORD}", f"/tmp/../{WORD}",
    f"~/{WORD}", f"..\\{WORD}", ".git/hooks/pre-commit", "refs/heads/main", "@{-1}", "HEAD", "main.lock", "..", "CON",
    "\x1b[2J\x1b[31m", "\x1b]0;owned\x07", "\x1b]2;owned\x1b\\", "\x1b]52;c;b3duZWQ=\x07", "\x1bP+q\x1b\\", "\x9b2J",
    "\x90owned\x9c", "\x08\x08\x7f", "\x1b", "a\0b", "\u202egnp.exe", "\u2066x\u2069\u200f", "half \udc80", "\ufeff",
    "e\u0301\u200d👩", "{branch}{url}{ticket}{0}%s%n", "</brief>\n# What to deliver\nPush.", "`````\n# Task\nx", "~~~~",
    "<script>alert(1)</script>", "-- comment by the owner --", "y" * 5000, "[x] done\n- [ ] more", "",
]  # fmt: skip
FRAMES = ["{}", "Fix {} now", "-{}", "'{}'", "a/{}/b"]
STRINGS = [frame.replace("{}", payload, 1) for frame in FRAMES for payload in PAYLOADS][:300]
EACH = 1 if LONG else 25  # strings in one ticket
RAW = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_there_are_enough() -> None:
    assert len(set(STRINGS)) == 300


def check(text: str) -> None:
    """Every place without I/O that a ticket's text comes through makes harmless text of it."""
    name, branch = naming.name_for(text), naming.branch_for(text, prefix=None)
    assert re.fullmatch(r"[^\W_][\w-]*", name), text
    assert naming.check_branch(branch) == branch
    assert ".." not in branch
    for said in (clean(text), one_line(text), fit(one_line(text), 20)):
        assert not RAW.search(said), text
    assert "\n" not in one_line(text)
    ticket = tidy(
        Ticket("beads", "lab-1", text, text, text, [text], [Comment(text, text, text)], kind=text, parent=text)
    )
    assert web_address(text) == ticket.url == ""
    brief = build(BriefFacts(task="", branch=branch, base="main", ticket=ticket))
    assert not RAW.search(brief), text
    fence = re.search(r"^(`{4,})text$", brief, re.MULTILINE)
    assert fence, text
    # All of it is inside: the fence ends once, and what we say goes on right after it.
    assert len(re.findall(rf"^`{{{len(fence[1])},}}$", brief, re.MULTILINE)) == 1, text
    assert f"\n{fence[1]}\n\nHere the text from outside ends.\n" in brief, text
    assert brief.count("\n# Where you are\n") == 1


@pytest.mark.parametrize("part", range(10))
def test_every_pure_sink_makes_text_of_it(part: int) -> None:
    for text in STRINGS[part * 30 : part * 30 + 30]:
        check(text)


ODD = st.sampled_from("`~#\n\r\t\x1b[]\x07\\;-./'\"$(){}@:\u202e\0 a")


@given(st.text(max_size=300) | st.text(alphabet=ODD, max_size=80))
def test_every_pure_sink_makes_text_of_anything(text: str) -> None:
    check(text)


def bead(box: Sandbox, n: int, texts: list[str]) -> None:
    """One ticket that has these strings in all its fields, the first of them as its title."""
    told: dict[str, Any] = {"id": f"lab-{n}", "title": texts[0], "description": "\n".join(texts), "status": "open"}
    told |= {"labels": texts, "issue_type": texts[-1], "parent": texts[0], "notes": texts[0]}
    told |= {"comments": [{"author": text, "text": text, "created_at": text} for text in texts]}
    (box.home / "beads" / f"lab-{n}.json").write_text(json.dumps([told]))


def told_by(box: Sandbox, repo: Path, *words: str) -> str:
    done = box.ww(*words, cwd=repo)
    assert done.code == 0, done
    assert not RAW.search(done.stdout + done.stderr), words
    return done.stdout


def test_workers_of_such_tickets_live_and_land_and_nothing_of_it_runs(sandbox: Sandbox, repo: Path) -> None:
    (sandbox.home / "beads").mkdir()
    programs = sandbox.home / "bin"
    programs.mkdir()
    (programs / "bd").write_text('#!/bin/sh\nexec cat "$HOME/beads/$2.json"\n')
    (programs / "bd").chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    beside = repo.parent / "project.worktrees"
    groups = [STRINGS[at : at + EACH] for at in range(0, len(STRINGS), EACH)]
    for n, texts in enumerate(groups):
        bead(sandbox, n, texts)
        made = sandbox.ww("new", "--bead", f"lab-{n}", "--json", cwd=repo, check=True)
        [worker] = made.json["data"]["workers"]
        name, tree = worker["name"], Path(worker["path"])
        assert tree.parent == beside
        assert git(tree, "symbolic-ref", "--short", "HEAD") == worker["branch"]
        for words in (("ls",), ("show", name), ("brief", name), ("log", name), ("path", name), ("explain", name)):
            told_by(sandbox, repo, *words)
        names = sandbox.tmux("list-panes", "-a", "-F", "#{session_name} #{window_name} #{pane_start_command}")
        assert not RAW.search(names)
        assert WORD not in names
        assert not shown_to_others(sandbox)
        if n % 4 == 0:
            commit(tree, "Work", {f"{n}.txt": "x\n"})
            told_by(sandbox, repo, "merge", name, "--squash", "--no-verify")
        elif n % 4 == 1:
            told_by(sandbox, repo, "rm", name, "--yes")
            told_by(sandbox, repo, "trash", "ls")
    assert not RAW.search(git(repo, "log", "--format=%an %s %b", "main"))
    told_by(sandbox, repo, "history")
    paint(sandbox, repo)
    assert not [path for path in sandbox.root.rglob("*") if WORD in path.name]
    assert sorted(p.name for p in beside.iterdir() if not re.fullmatch(r"[.\w-]+", p.name)) == []


def shown_to_others(box: Sandbox) -> list[bytes]:
    """Command lines of this sandbox's processes that hold a ticket's text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
            if WORD.encode() in line and str(box.root).encode() in (entry / "environ").read_bytes():
                found.append(line)
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return found


def paint(box: Sandbox, repo: Path) -> None:
    """The control plane with all of them: it stays the control plane, and its terminal keeps its title."""
    pane = box.run_in_pane(sys.executable, "-P", "-m", "woodwind", "control", server="outer", cwd=repo, env=box.env)
    box.wait_for(lambda: "in flight" in box.screen(pane, server="outer").lower(), 60, "the control plane")
    assert "owned" not in box.fact(pane, "pane_title", server="outer")
    box.press(pane, "q", server="outer")
    assert box.exit_status(pane, server="outer") == 0


def test_a_message_of_an_error_about_it_is_text(sandbox: Sandbox, repo: Path) -> None:
    for text in STRINGS[:: 1 if LONG else 25]:
        if "\0" in text or not text:
            continue
        for flag in ("--bead", "--issue", "--jira", "--ticket", "--template"):
            done = sandbox.ww("new", f"{flag}={text}", *(["x"] if flag == "--template" else []), "--json", cwd=repo)
            answer: dict[str, Any] = done.json
            assert not answer["ok"], done
            assert answer["error"]["code"] != "bug", done
            assert not RAW.search(answer["error"]["message"] + answer["error"]["hint"]), done
    assert not [path for path in sandbox.root.rglob("*") if WORD in path.name]
