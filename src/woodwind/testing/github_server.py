"""GitHub played on a Unix socket, for the real `gh`: issues, pull requests and a repository to fetch them from."""

from __future__ import annotations

import json
import re
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

LOGIN = "tester"


class GitHubServer:
    """The repository `o/r` on a GitHub of one's own; a context manager that ends it.

    `issues` and `pulls` are by number, in GraphQL's own words; `trouble` makes every answer a failure.
    """

    def __init__(self, folder: Path, bare: Path) -> None:
        self.folder = folder
        self.issues: dict[int, dict[str, Any]] = {}
        self.pulls: dict[int, dict[str, Any]] = {}
        self.trouble = ""  # "", "rate", "unauthorized", "slow", "broken"
        self.asked: list[str] = []
        folder.mkdir(parents=True)
        self.socket = folder / "api"
        (folder / "config.yml").write_text(f"http_unix_socket: {self.socket}\n")
        ssh = folder / "ssh"
        # git calls it as: ssh HOST COMMAND; whatever the path in the command, it serves the one repository.
        ssh.write_text(
            "#!/bin/sh\nfor word; do last=$word; done\ncase $last in\n"
            f"git-receive-pack*) exec git receive-pack '{bare}';;\n*) exec git upload-pack '{bare}';;\nesac\n"
        )
        ssh.chmod(0o755)
        self._server = _Server(str(self.socket), _Handler)
        self._server.github = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def env(self) -> dict[str, str]:
        """What leads `gh` and git here."""
        return {
            "GH_CONFIG_DIR": str(self.folder),
            "GH_TOKEN": "x",
            "GIT_SSH_COMMAND": str(self.folder / "ssh"),
            "GIT_SSH_VARIANT": "simple",
        }

    def __enter__(self) -> Self:
        """Start it."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add_issue(self, number: int, title: str, body: str = "", **more: Any) -> None:
        """An open issue."""
        self.issues[number] = self._thing("Issue", number, title, body, f"issues/{number}", more)

    def add_pull(self, number: int, title: str, body: str = "", **more: Any) -> None:
        """An open pull request from a fork, unless `isCrossRepository` is said to be false."""
        from_fork = {"headRefName": "patch", "baseRefName": "main", "isCrossRepository": True}
        owner = {"headRepositoryOwner": {"id": "U_2", "login": "stranger"}}
        self.pulls[number] = self._thing("PullRequest", number, title, body, f"pull/{number}", from_fork | owner | more)

    def _thing(self, kind: str, number: int, title: str, body: str, path: str, more: dict[str, Any]) -> dict[str, Any]:
        comments = [
            {"id": f"C_{n}", "author": {"login": who}, "body": text, "createdAt": "2026-01-02T03:04:05Z"}
            for n, (who, text) in enumerate(more.pop("comments", []))
        ]
        labels = [{"id": f"L_{name}", "name": name} for name in more.pop("labels", [])]
        people = [{"id": f"U_{name}", "login": name} for name in more.pop("assignees", [])]
        page = {"hasNextPage": False, "endCursor": ""}
        return {
            "__typename": kind,
            "id": f"{kind}_{number}",
            "number": number,
            "title": title,
            "body": body,
            "url": f"https://github.com/o/r/{path}",
            "state": "OPEN",
            "author": {"login": "author"},
            "labels": {"nodes": labels, "totalCount": len(labels)},
            "assignees": {"nodes": people, "totalCount": len(people)},
            "comments": {"nodes": comments, "totalCount": len(comments), "pageInfo": page},
            **more,
        }

    def answer(self, query: str, words: dict[str, Any]) -> dict[str, Any]:
        """What GitHub's GraphQL would say."""
        name = (re.search(r"(?:query|mutation)\s+(\w+)", query) or ["", ""])[1]
        self.asked.append(name)
        data: dict[str, Any] = words.get("input") or {}
        everything = [*self.issues.values(), *self.pulls.values()]
        by_id = {thing["id"]: thing for thing in everything}
        if name == "IssueByNumber":
            found = self.issues.get(words["number"]) or self.pulls.get(words["number"])
            return self._repository("issue", found, "issue or pull request", words["number"])
        if name == "PullRequestByNumber":
            number = words["pr_number"]
            return self._repository("pullRequest", self.pulls.get(number), "PullRequest", number)
        if name.startswith("CommentsFor"):
            return {"data": {"node": {"comments": by_id[words["id"]]["comments"]}}}
        if name == "CommentCreate":
            comments = by_id[data["subjectId"]]["comments"]
            text = {"id": f"C_{len(comments['nodes'])}", "author": {"login": LOGIN}, "body": data["body"]}
            comments["nodes"].append(text)
            node = {"url": "https://github.com/o/r/issues/1#c"}
            return {"data": {"addComment": {"commentEdge": {"node": node}}}}
        if name == "IssueClose":
            by_id[data["issueId"]]["state"] = "CLOSED"
            return {"data": {"closeIssue": {"issue": {"id": data["issueId"]}}}}
        return {"errors": [{"message": f"this GitHub does not know {name}"}]}

    def rest(self, method: str, path: str, words: dict[str, list[str]], body: dict[str, Any]) -> Any:
        """What the REST interface would say; None for what it does not have."""
        self.asked.append(f"{method} {path}")
        assign = re.fullmatch(r"/repos/o/r/issues/(\d+)/assignees", path)
        if path == "/user":
            return {"login": LOGIN, "id": 1}
        if path == "/repos/o/r/milestones":
            return [{"number": 3, "title": "The big 1.0"}]
        if path == "/repos/o/r/issues":
            return [] if words.get("page") != ["1"] else [self._in_rest(i) for i in self._listed(words)]
        if path == "/repos/o/r/pulls" and method == "POST":
            number = 1 + max([0, *self.issues, *self.pulls])
            branch = body["head"].partition(":")[2]
            self.add_pull(number, body["title"], body["body"], headRefName=branch, baseRefName=body["base"])
            return {"number": number, "html_url": self.pulls[number]["url"]}
        if path == "/repos/o/r/pulls":
            branch = words["head"][0].partition(":")[2]
            found = [p for p in self.pulls.values() if p["headRefName"] == branch and p["state"] == "OPEN"]
            return [{"number": p["number"], "html_url": p["url"]} for p in found]
        if assign and method == "POST":
            people = [{"login": name} for name in body["assignees"]]
            self.issues[int(assign[1])]["assignees"] = {"nodes": people, "totalCount": len(people)}
            return {}
        return None

    def _listed(self, words: dict[str, list[str]]) -> list[dict[str, Any]]:
        label, milestone = words.get("labels", [""])[0], words.get("milestone", [""])[0]
        return [
            thing
            for thing in [*self.issues.values(), *self.pulls.values()]
            if thing["state"] == "OPEN"
            and (not label or label in [node["name"] for node in thing["labels"]["nodes"]])
            and (not milestone or thing.get("milestone") == milestone)
        ]

    @staticmethod
    def _in_rest(thing: dict[str, Any]) -> dict[str, Any]:
        told = {key: thing[key] for key in ("number", "title", "body")}
        labels, people = thing["labels"]["nodes"], thing["assignees"]["nodes"]
        return told | {"html_url": thing["url"], "state": "open", "labels": labels, "assignees": people}

    def _repository(self, key: str, found: dict[str, Any] | None, what: str, number: int) -> dict[str, Any]:
        held = {"repository": {"hasIssuesEnabled": True, key: found}}
        if found:
            return {"data": held}
        said = f"Could not resolve to an {what} with the number of {number}."
        return {"data": held, "errors": [{"type": "NOT_FOUND", "path": ["repository", key], "message": said}]}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    github: GitHubServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """GraphQL."""
        github = self._github
        body = json.loads(self._body() or b"{}")
        if github.trouble == "slow":
            time.sleep(30)
        if github.trouble == "unauthorized":
            self._say(401, {"message": "Bad credentials"})
        elif github.trouble == "rate":
            self._say(200, {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]})
        elif github.trouble == "broken":
            self._say(502, {"message": "Bad gateway"})
        elif self.path == "/graphql":
            self._say(200, github.answer(body.get("query", ""), body.get("variables") or {}))
        else:
            self._rest(body)

    def do_GET(self) -> None:
        """REST."""
        self._rest({})

    def _rest(self, body: dict[str, Any]) -> None:
        place = urlsplit(self.path)
        found = self._github.rest(self.command, place.path, parse_qs(place.query), body)
        self._say(404 if found is None else 200, {"message": "Not Found"} if found is None else found)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    @property
    def _github(self) -> GitHubServer:
        assert isinstance(self.server, _Server)
        return self.server.github

    def _say(self, status: int, data: Any) -> None:
        text = json.dumps(data).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("X-OAuth-Scopes", "repo")
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            self.close_connection = True  # whoever asked has gone

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests look at `asked`."""

    def address_string(self) -> str:
        """A Unix socket has no address."""
        return "local"
