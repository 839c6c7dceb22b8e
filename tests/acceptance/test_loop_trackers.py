"""`ww loop` with trackers end to end: two tickets, each claimed, done by an agent that closes it, and landed."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from woodwind.testing.github_server import LOGIN, GitHubServer
from woodwind.testing.plans import await_run
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox


def body(name: str) -> str:
    close = f"run {sys.executable} -m woodwind loop close --message 'Did {name}'"
    lines = (f"write {name}.txt {name}", f"commit Add {name}", close)
    return "".join(f"rehearse: {line}\n" for line in lines)


def loop_through(box: Sandbox, repo: Path, source: str, epic: str, tickets: list[str]) -> None:
    """Let a loop do both tickets of an epic, one after the other, with one worker."""
    command = ("loop", "start", "--source", source, "--epics", epic, "--agent", "rehearsal", "--permissions", "auto")
    loop = box.ww(*command, "--no-verify", "--json", cwd=repo, check=True).json["data"]["id"]
    told = await_run(box, repo, loop)
    assert {name: task["state"] for name, task in told["tasks"].items()} == dict.fromkeys(tickets, "landed"), told
    assert len({task["worker_id"] for task in told["tasks"].values()}) == 1
    assert [(repo / name).read_text().strip() for name in ("one.txt", "two.txt")] == ["one", "two"]
    subjects = git(repo, "log", "--topo-order", "--reverse", "--no-merges", "--format=%s").splitlines()
    assert subjects == ["First commit", "Add one", "Add two"]


def test_issues_of_a_label_on_github_through_the_real_gh(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "remote", "add", "origin", "git@github.com:o/r.git")
    with GitHubServer(sandbox.root / "gh", sandbox.home / "none.git") as github:
        for number, name in ((7, "one"), (9, "two")):
            github.add_issue(number, f"Add {name}", body(name), labels=["shop"])
        github.add_issue(8, "Of somebody else", "hang", labels=["shop"], assignees=["ann"])
        github.add_issue(10, "Of another label", "hang", labels=["other"])
        sandbox.env |= github.env | {"PATH": f"{Path(sys.executable).parent}:{sandbox.env['PATH']}"}
        loop_through(sandbox, repo, "github", "shop", ["7", "9"])
        assert {number: issue["state"] for number, issue in github.issues.items()} == {
            **dict.fromkeys((7, 9), "CLOSED"),
            **dict.fromkeys((8, 10), "OPEN"),
        }
        for number, said in ((7, "Did one"), (9, "Did two")):
            issue = github.issues[number]
            assert [person["login"] for person in issue["assignees"]["nodes"]] == [LOGIN]
            assert [comment["body"] for comment in issue["comments"]["nodes"]] == [said]


class Jira(ThreadingHTTPServer):
    """A Jira Cloud with the epic SHOP-1 of two tickets; `moves` are the steps that they took."""

    daemon_threads = True
    CATEGORIES = ("new", "indeterminate", "done")

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _JiraHandler)
        self.at = {"SHOP-2": 0, "SHOP-3": 0}
        self.moves: list[tuple[str, str]] = []

    def ticket(self, key: str) -> dict[str, Any]:
        name = {"SHOP-2": "one", "SHOP-3": "two"}.get(key, "")
        kind = "Task" if name else "Epic"
        lines = [{"type": "text", "text": body(name)}] if name else []
        text = {"type": "doc", "content": [{"type": "codeBlock", "content": lines}]}
        status = {"name": "x", "statusCategory": {"key": self.CATEGORIES[self.at.get(key, 0)]}}
        fields = {"summary": f"Add {name}" if name else "The shop", "issuetype": {"name": kind}, "status": status}
        return {"key": key, "fields": {**fields, "description": text, "labels": [], "comment": {"comments": []}}}


class _JiraHandler(BaseHTTPRequestHandler):
    server: Jira

    def do(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        text = json.dumps(self.answer(said)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do

    def answer(self, said: Any) -> Any:
        jira = self.server
        what, _, rest = self.path.removeprefix("/rest/api/3/").partition("/")
        key, _, part = rest.partition("?")[0].partition("/")
        if what == "issue" and part == "transitions" and self.command == "POST":
            jira.at[key] = int(said["transition"]["id"])
            jira.moves.append((key, Jira.CATEGORIES[jira.at[key]]))
        if what == "issue" and part == "transitions":
            steps = enumerate(Jira.CATEGORIES)
            return {"transitions": [{"id": str(n), "to": {"statusCategory": {"key": name}}} for n, name in steps]}
        if what == "issue" and not part:
            return jira.ticket(key)
        if what == "search":
            return {"issues": [jira.ticket(key) for key, at in jira.at.items() if at == 0]}
        return {"accountId": "me"}

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_tickets_of_an_epic_in_jira(sandbox: Sandbox, repo: Path) -> None:
    with Jira() as jira:
        serving = threading.Thread(target=jira.serve_forever, args=(0.02,))
        serving.start()
        address = f"http://127.0.0.1:{jira.server_address[1]}"
        sandbox.env |= {"JIRA_URL": address, "JIRA_LOGIN": "me@example.invalid", "JIRA_API_TOKEN": "t"}
        try:
            loop_through(sandbox, repo, "jira", "SHOP-1", ["SHOP-2", "SHOP-3"])
        finally:
            jira.shutdown()
            serving.join()
        steps = [(key, to) for key in ("SHOP-2", "SHOP-3") for to in ("indeterminate", "done")]
        assert jira.moves == steps


# As `bd` does it: every answer has the bead, and all of them are in one file.
BD = """#!{python}
import json, sys
words = [word for word in sys.argv[1:] if word != "--json"]
beads = json.load(open({file!r}))
verb, id = words[0], words[1]
if verb == "ready":
    print(json.dumps([bead for bead in beads.values() if bead["status"] == "open"]))
    sys.exit()
if id not in beads:
    sys.exit(f"Error: issue {{id}} not found")
if verb in ("update", "close"):
    beads[id] |= {{"status": "closed" if verb == "close" else "in_progress", "told": words[2]}}
    beads[id]["steps"] = [*beads[id].get("steps", []), beads[id]["status"]]
    json.dump(beads, open({file!r}, "w"))
print(json.dumps([beads[id]]))
"""


def bead(id: str, name: str) -> dict[str, Any]:
    return {"id": id, "title": f"Add {name}", "description": body(name), "status": "open", "issue_type": "task"}


def test_beads_of_an_epic(sandbox: Sandbox, repo: Path) -> None:
    file = sandbox.home / "beads.json"
    epic = bead("shop", "The shop") | {"issue_type": "epic"}
    beads = {"shop": epic, "shop.1": bead("shop.1", "one"), "shop.2": bead("shop.2", "two"), "x": bead("x", "other")}
    file.write_text(json.dumps(beads))
    programs = sandbox.home / "bin"
    programs.mkdir()
    (programs / "bd").write_text(BD.format(python=sys.executable, file=str(file)))
    (programs / "bd").chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    loop_through(sandbox, repo, "beads", "shop", ["shop.1", "shop.2"])
    after = json.loads(file.read_text())
    assert [after[id].get("steps") for id in beads] == [None, *[["in_progress", "closed"]] * 2, None]
    assert (after["shop.1"]["told"], after["shop.2"]["told"]) == ("--reason=Did one", "--reason=Did two")
