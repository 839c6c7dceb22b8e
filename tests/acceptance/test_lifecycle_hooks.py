"""[hooks.on]: a command for an event, once for each, whoever is killed meanwhile."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.daemons import daemon_status, start_daemon
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker


def configure(box: Sandbox, text: str) -> None:
    file = box.home / ".config" / "woodwind" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def heard(box: Sandbox) -> list[dict[str, Any]]:
    file = box.home / "heard"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


HEARS = """[hooks.on]
"worker.created" = "tr -d '\\n' >> $HOME/heard; echo >> $HOME/heard"
"worker.removed" = "tr -d '\\n' >> $HOME/heard; echo >> $HOME/heard; echo it went wrong; exit 3"
"""


def test_each_event_reaches_its_command_as_json_and_failures_are_told(sandbox: Sandbox, repo: Path) -> None:
    configure(sandbox, HEARS)
    new_worker(sandbox, repo, "one")
    start_daemon(sandbox)
    sandbox.wait_for(lambda: heard(sandbox), 60, "the first hook")
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    sandbox.wait_for(lambda: len(heard(sandbox)) == 2, 60, "the second hook")
    made, removed = heard(sandbox)
    assert (made["kind"], made["worker_name"], made["project_name"]) == ("worker.created", "one", "project")
    assert made["data"]["name"] == "one"
    assert removed["kind"] == "worker.removed"
    new_worker(sandbox, repo, "two")
    sandbox.wait_for(lambda: len(heard(sandbox)) == 3, 60, "the third hook")
    told = [event for event in events(sandbox) if event["kind"] == "hook.failed"]
    assert [event["data"]["how"] for event in told] == ["status 3"]
    assert told[0]["data"]["output"] == "it went wrong\n"


def events(box: Sandbox) -> list[dict[str, Any]]:
    script = (
        "import json, os; from woodwind.ops.context import Context; from woodwind.store import events; "
        "print(json.dumps([e._asdict() for e in events.since(Context('/', os.environ).store, 0)]))"
    )
    found: list[dict[str, Any]] = json.loads(box.run(sys.executable, "-c", script, check=True).stdout)
    return found


@pytest.mark.parametrize("where", ["hooks.before_start", "hooks.after_start", "hooks.after_end", "hooks.after_cursor"])
def test_a_daemon_killed_around_a_hook_fires_it_once(sandbox: Sandbox, repo: Path, where: str) -> None:
    configure(sandbox, HEARS)
    new_worker(sandbox, repo, "one")
    sandbox.ww("daemon", "start", cwd=repo, env={"WOODWIND_FAILPOINT": where})
    sandbox.wait_for(lambda: daemon_status(sandbox) is None, 60, "the daemon to die")
    start_daemon(sandbox)
    new_worker(sandbox, repo, "two")
    sandbox.wait_for(lambda: len(heard(sandbox)) >= 2, 60, "both hooks")
    assert [event["worker_name"] for event in heard(sandbox)] == ["one", "two"]


def test_an_event_that_there_is_not_is_an_error_and_a_projects_command_needs_approval(
    sandbox: Sandbox, repo: Path
) -> None:
    configure(sandbox, '[hooks.on]\n"worker.create" = "true"\n')
    wrong = sandbox.ww("config", "show", "--json", cwd=repo)
    assert wrong.json["error"]["code"] == "unknown_key"
    assert "hooks.on.worker.created" in wrong.json["error"]["hint"]
    configure(sandbox, "")
    file = repo / "woodwind.toml"
    file.write_text(f'{file.read_text()}\n[hooks.on]\n"worker.created" = "cat >> $HOME/heard; echo >> $HOME/heard"\n')
    new_worker(sandbox, repo, "one")
    listed = sandbox.ww("hooks", "list", "--json", cwd=repo, check=True).json["data"]
    assert [(hook["hook"], hook["may_run"]) for hook in listed] == [("on.worker.created", False)]
    start_daemon(sandbox)
    sandbox.ww("hooks", "approve", "on.worker.created", cwd=repo, check=True)
    new_worker(sandbox, repo, "two")
    sandbox.wait_for(lambda: heard(sandbox), 60, "the hook")
    assert {event["worker_name"] for event in heard(sandbox)} <= {"one", "two"}
