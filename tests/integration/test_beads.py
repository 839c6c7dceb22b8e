"""Beads against replies that were recorded from bd 0.46 and written down from the documents of bd 1.x and br.

A stand-in program on PATH gives them; where a real `bd` or `br` is installed, it is asked, too.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from woodwind.model.errors import TimedOut, UsageError
from woodwind.tickets.base import NoTicket, NoTracker, TicketError
from woodwind.tickets.beads import Beads

EPIC = {"id": "lab-1", "title": "Shop", "description": "", "status": "open", "priority": 1, "issue_type": "epic"}
ONE = {**EPIC, "id": "lab-1.1", "title": "Fix it", "description": "It \x1b[1mcrashes", "issue_type": "bug"}
TWO = {**ONE, "id": "lab-7", "title": "Linked", "issue_type": "task"}
TAKEN = {**ONE, "id": "lab-1.2", "status": "in_progress"}
OTHER = {**ONE, "id": "lab-9", "title": "Of another epic"}
SHOWN = {**EPIC, "dependents": [{"id": "lab-7", "dependency_type": "parent-child"}], "labels": ["web"]}
READY = [EPIC, ONE, TWO, TAKEN, OTHER]

# What each program prints for what it is asked: (standard output, standard error, exit status).
Replies = dict[str, tuple[str, str, int]]
BD_046: Replies = {
    "show lab-1 --json": (json.dumps([SHOWN]), "", 0),
    "show lab-1.1 --json": (json.dumps([ONE]), "", 0),
    "show nope --json": ('{"error": "issue nope not found"}', "", 1),
    "ready --limit=1000 --json": (json.dumps(READY), "", 0),
    "update lab-1.1 --claim --json": (json.dumps([{**ONE, "status": "in_progress"}]), "", 0),
    "close lab-1.1 --reason=all done --json": (json.dumps([{**ONE, "status": "closed"}]), "", 0),
    "comments add lab-1.1 -- half way": ("Comment added to lab-1.1", "", 0),
}
BD_1: Replies = {
    key: (
        json.dumps({"schema_version": 1, "data": json.loads(out)}) if code == 0 and out[0] in "[{" else out,
        err,
        code,
    )
    for key, (out, err, code) in BD_046.items()
}
BR_ERROR = json.dumps({"error": {"code": "ISSUE_NOT_FOUND", "message": "Issue not found: nope", "retryable": False}})
BR: Replies = {**BD_046, "show nope --json": ("", BR_ERROR, 3)}
KINDS = {"bd 0.46": ("bd", BD_046), "bd 1.x": ("bd", BD_1), "br": ("br", BR)}


def program(folder: Path, name: str, replies: Replies) -> Beads:
    cases = "".join(
        f"{_quoted(asked)}) printf %s {_quoted(out)}; printf %s {_quoted(err)} >&2; exit {code};;\n"
        for asked, (out, err, code) in replies.items()
    )
    path = folder / name
    path.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}esac\necho "unknown command: $*" >&2\nexit 9\n')
    path.chmod(0o755)
    return Beads(str(folder), {"PATH": f"{folder}:/usr/bin:/bin"})


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(params=list(KINDS))
def beads(request: pytest.FixtureRequest, tmp_path: Path) -> Beads:
    return program(tmp_path, *KINDS[request.param])


def test_a_bead_is_fetched_listed_claimed_told_about_and_closed(beads: Beads) -> None:
    ticket = beads.fetch("lab-1.1")
    assert (ticket.title, ticket.body, ticket.kind, ticket.state) == ("Fix it", "It crashes", "bug", "open")
    assert ticket.origin == "beads:lab-1.1"
    assert [t.id for t in beads.ready("lab-1")] == ["lab-1.1", "lab-7"]
    assert [t.id for t in beads.ready("")] == ["lab-1.1", "lab-7", "lab-9"]
    beads.claim("lab-1.1")
    beads.progress("lab-1.1", "half way")
    beads.close("lab-1.1", "all done")
    with pytest.raises(NoTicket) as found:
        beads.fetch("nope")
    name = "br" if (Path(beads.folder) / "br").exists() else "bd"
    assert found.value.hint == f"`{name} list` shows what there is."


@pytest.mark.parametrize(
    "asked, reply",
    [
        ("update lab-1.1 --claim --json", ("", "Error: already claimed by bob", 0)),  # bd 0.46, seen
        ("update lab-1.1 --claim --json", (json.dumps([ONE]), "", 0)),
        ("update lab-1.1 --claim --json", (json.dumps([OTHER]), "", 0)),
        ("update lab-1.1 --claim --json", ("[]", "", 0)),
        ("show lab-1.1 --json", ("", "", 0)),
        ("show lab-1.1 --json", ("Welcome to beads!", "", 0)),
        ("show lab-1.1 --json", (json.dumps([TAKEN]), "", 0)),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_a_failure(
    tmp_path: Path, asked: str, reply: tuple[str, str, int]
) -> None:
    with pytest.raises(TicketError):
        program(tmp_path, "bd", {**BD_046, asked: reply}).claim("lab-1.1")


def test_what_is_missing_or_hangs_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoTracker, match="not installed"):
        Beads(str(tmp_path), {"PATH": str(tmp_path)}).fetch("lab-1")
    none = {"show lab-1 --json": ("", "Error: no beads database found", 1)}
    with pytest.raises(NoTracker, match="no beads here"):
        program(tmp_path, "bd", none).fetch("lab-1")
    (tmp_path / "bd").write_text("#!/bin/sh\nexec sleep 60\n")
    source = Beads(str(tmp_path), {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    source.timeout = 0.3
    with pytest.raises(TimedOut):
        source.fetch("lab-1")
    for id in ("", "--json", "a b", "a;b", "../x"):
        with pytest.raises(UsageError):
            source.fetch(id)


@pytest.mark.parametrize("name", ["bd", "br"])
def test_the_real_program(name: str, tmp_path: Path) -> None:
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: only its recorded replies were tested")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).symlink_to(found)
    env = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "BEADS_NO_DAEMON": "1"}

    def run(*words: str) -> Any:
        call = [name, *words]
        done = subprocess.run(call, cwd=tmp_path, env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return json.loads(done.stdout) if "--json" in words else None

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run("init", "--prefix", "lab")
    epic = run("create", "Shop", "-t", "epic", "--json")
    child = run("create", "Fix it", "-t", "bug", "--parent", epic["id"], "--json")
    source = Beads(str(tmp_path), env)
    assert [t.id for t in source.ready(epic["id"])] == [child["id"]]
    source.claim(child["id"])
    source.progress(child["id"], "half way")
    source.close(child["id"], "all done")
    assert source.fetch(child["id"]).state == "closed"
