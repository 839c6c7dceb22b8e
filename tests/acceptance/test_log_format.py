"""`--log-format json`: remarks and errors as one JSON object a line on standard error."""

import json
from pathlib import Path

from woodwind.testing.sandbox import Sandbox


def test_errors_and_notes_are_json_lines(sandbox: Sandbox, repo: Path) -> None:
    failed = sandbox.ww("--log-format", "json", "show", "nobody", cwd=repo)
    [line] = failed.stderr.splitlines()
    entry = json.loads(line)
    assert (failed.code, entry["level"], entry["code"]) == (3, "error", "no_worker")
    assert "there is no worker 'nobody'" in entry["message"]
    assert entry["hint"]

    env = {"WOODWIND_LIMITS_WORKERS": "1"}
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, env=env, check=True)
    queued = sandbox.ww("--log-format", "json", "new", "Do it", "--name", "two", cwd=repo, env=env, check=True)
    notes = [json.loads(line) for line in queued.stderr.splitlines()]
    assert [(n["level"], "waits for room" in n["message"]) for n in notes] == [("note", True)]


def test_an_unknown_format_is_an_error(sandbox: Sandbox, repo: Path) -> None:
    refused = sandbox.ww("--log-format", "xml", "ls", cwd=repo)
    assert refused.code == 2
    assert "--log-format" in refused.stderr
