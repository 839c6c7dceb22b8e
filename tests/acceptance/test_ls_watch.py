"""`ww ls --watch` and `--since`: nothing is missed, whoever's shell ran out of time."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from woodwind.testing.daemons import ON
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker


@contextmanager
def watching(box: Sandbox, repo: Path, *words: str, **env: str) -> Iterator[Path]:
    """The file that a running `ww ls --watch` writes to."""
    path = box.root / "watched"
    with path.open("wb") as file:
        argv = [sys.executable, "-m", "woodwind", "ls", "--watch", *words]
        process = subprocess.Popen(argv, cwd=repo, env={**box.env, **env}, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield path
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("env", [ON, {}], ids=["daemon", "no daemon"])
def test_a_line_for_each_change(sandbox: Sandbox, repo: Path, env: dict[str, str]) -> None:
    new_worker(sandbox, repo, "one")
    with watching(sandbox, repo, **env) as seen:
        sandbox.wait_for(lambda: " one is " in seen.read_text(), 60, "who is there")
        new_worker(sandbox, repo, "two")
        sandbox.wait_for(lambda: " two was created\n" in seen.read_text(), 60, "who came")
        sandbox.ww("rm", "two", "--yes", cwd=repo, check=True)
        sandbox.wait_for(lambda: " two was removed\n" in seen.read_text(), 60, "who went")
    assert "\x1b" not in seen.read_text()
    assert sandbox.end_keepers() == len(env)


def test_a_script_goes_on_from_where_it_was(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo, "one")
    first = sandbox.ww("ls", "--json", "--since", "0", cwd=repo, check=True).json["data"]
    assert [e["name"] for e in first["events"] if e["kind"] == "worker.created"] == ["one"]
    assert first["cursor"] >= first["events"][-1]["cursor"]
    assert not first["more"]
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    later = sandbox.ww("ls", "--json", "--since", str(first["cursor"]), cwd=repo, check=True).json["data"]
    assert "worker.removed" in [e["kind"] for e in later["events"]]
    assert "worker.created" not in [e["kind"] for e in later["events"]]
    assert sandbox.ww("ls", "--since", "0", cwd=repo, check=True).stdout.count("one was created") == 1

    with watching(sandbox, repo, "--json", "--since", str(first["cursor"])) as seen:
        sandbox.wait_for(lambda: "worker.removed" in seen.read_text(), 60, "what was missed")
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    assert [line["cursor"] for line in lines] == [e["cursor"] for e in later["events"]]


def test_a_script_without_a_cursor_gets_the_list_and_one(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo, "one")
    with watching(sandbox, repo, "--json") as seen:
        sandbox.wait_for(lambda: seen.read_text().endswith("\n"), 60, "the list")
        start = json.loads(seen.read_text().splitlines()[0])
        assert (start["kind"], [w["name"] for w in start["workers"]]) == ("list", ["one"])
        assert start["cursor"] > 0


def test_a_cursor_that_makes_no_sense(sandbox: Sandbox, repo: Path) -> None:
    assert sandbox.ww("ls", "--since", "-4", cwd=repo).code == 2
    assert sandbox.ww("ls", "--since", "soon", cwd=repo).code == 2
    new_worker(sandbox, repo, "one")
    # Of a store that was lost since: everything is told again rather than nothing.
    told = sandbox.ww("ls", "--json", "--since", "999999", cwd=repo, check=True).json["data"]
    assert "worker.created" in [e["kind"] for e in told["events"]]
    assert told["cursor"] < 999999
