"""Jira against a server on loopback: Cloud and one's own, and whatever may go wrong with either."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from woodwind.model.errors import TimedOut, UsageError
from woodwind.tickets.base import NoTicket, NoTracker, TicketError
from woodwind.tickets.jira import Jira

OPEN, DOING, DONE = ({"name": n, "statusCategory": {"key": k}} for n, k in
                     (("To Do", "new"), ("Doing", "indeterminate"), ("Done", "done")))  # fmt: skip
ADF = {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "It \x1b[31mcrashes"}]}]}


class Server(ThreadingHTTPServer):
    """One ticket, SHOP-12, of the epic SHOP-1; `how` says what kind of server it is, or what is wrong with it."""

    daemon_threads = True
    how = "cloud"
    location = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status: Any = OPEN
        self.asked: list[tuple[str, str, str]] = []
        self.comments: list[Any] = []
        self.assigned: Any = None

    def ticket(self, api: str) -> dict[str, Any]:
        fields = {
            "summary": "Fix the login crash",
            "issuetype": {"name": "Bug"},
            "status": self.status,
            "labels": ["web"],
            "parent": {"key": "SHOP-1"},
            "description": ADF if api == "3" else "It crashes",
            "comment": {"comments": [{"author": {"displayName": "Ann"}, "body": "Me too", "created": "2026-01-02"}]},
        }
        return {"key": "SHOP-12", "fields": fields}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization") or ""))
        status, data = self.answer(body)
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        if self.server.location and 300 <= status < 400:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do

    def answer(self, body: Any) -> tuple[int, Any]:
        server, how = self.server, self.server.how
        if how.isdecimal():
            return int(how), {"errorMessages": ["no luck"]}
        if how == "slow":
            time.sleep(20)
        if how == "html":
            return 200, b"<html>Log in</html>"
        if how == "deep":
            return 200, b"[" * 100_000
        path = self.path.removeprefix("/rest/api/")
        api, _, rest = path.partition("/")
        if how == "server" and api == "3":
            return 404, b"<html>Oops</html>"
        if rest.startswith("issue/SHOP-12/comment"):
            server.comments.append(body["body"])
            return 201, {}
        if rest.startswith("issue/SHOP-12/transitions"):
            if self.command == "POST":
                server.status = {"1": DOING, "2": DONE}[body["transition"]["id"]]
                return 204, b""
            return 200, {"transitions": [{"id": "1", "to": DOING}, {"id": "2", "to": DONE}]}
        if rest.startswith("issue/SHOP-12/assignee"):
            server.assigned = body
            return 204, b""
        if rest.startswith("myself"):
            return 200, {"accountId": "me"} if api == "3" else {"name": "me"}
        if rest.startswith(("issue/SHOP-12?", "issue/SHOP-1?")):
            return 200, server.ticket(api)
        if rest.startswith(("search/jql?", "search?")):
            return 200, {"issues": [server.ticket(api)]}
        return 404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]}

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.02,))
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def jira(server: Server, **environ: str) -> Jira:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    return Jira("/", {"JIRA_URL": url + "/", "JIRA_LOGIN": "me@x.example", "JIRA_API_TOKEN": "secret", **environ})


def test_a_ticket_of_the_cloud(server: Server) -> None:
    ticket = jira(server).fetch("shop-12")
    assert (ticket.id, ticket.title, ticket.body) == ("SHOP-12", "Fix the login crash", "It crashes")
    assert (ticket.kind, ticket.parent, ticket.labels, ticket.state) == ("Bug", "SHOP-1", ("web",), "open")
    assert ticket.comments[0].text == "Me too"
    assert ticket.url.endswith("/browse/SHOP-12")
    assert ticket.origin == "jira:SHOP-12"
    assert server.asked[0][2] == "Basic " + base64.b64encode(b"me@x.example:secret").decode()


def test_a_ticket_of_a_server_of_ones_own(server: Server) -> None:
    server.how = "server"
    assert jira(server, JIRA_LOGIN="").fetch("SHOP-12").body == "It crashes"
    assert [path.split("/")[3] for _, path, _ in server.asked] == ["3", "2"]
    assert server.asked[0][2] == "Bearer secret"


@pytest.mark.parametrize("how", ["cloud", "server"])
def test_a_ticket_is_listed_claimed_told_about_and_closed(server: Server, how: str) -> None:
    server.how = how
    source = jira(server)
    assert [t.id for t in source.ready("SHOP-1")] == ["SHOP-12"]
    asked = server.asked[-1][1]
    assert ("parent+%3D+SHOP-1" if how == "cloud" else "%22Epic+Link%22+%3D+SHOP-1") in asked
    assert [t.id for t in source.ready("project = SHOP")] == ["SHOP-12"]
    source.claim("SHOP-12")
    assert server.assigned == ({"accountId": "me"} if how == "cloud" else {"name": "me"})
    assert source.ready("SHOP-1") == []
    with pytest.raises(TicketError) as taken:
        source.claim("SHOP-12")
    assert taken.value.code == "already_claimed"
    source.close("SHOP-12", "Done\nand dusted")
    assert server.status == DONE
    assert isinstance(server.comments[0], dict if how == "cloud" else str)


def test_a_workflow_without_the_step_is_said(server: Server) -> None:
    server.status = {"name": "Odd", "statusCategory": {"key": "new"}}
    source = jira(server)
    server_answer = Handler.answer
    Handler.answer = lambda self, body: (  # type: ignore[method-assign]
        (200, {"transitions": []}) if "transitions" in self.path else server_answer(self, body)
    )
    try:
        with pytest.raises(TicketError, match="no such step"):
            source.close("SHOP-12", "")
    finally:
        Handler.answer = server_answer  # type: ignore[method-assign]


@pytest.mark.parametrize(
    "how, error, code",
    [
        ("401", NoTracker, "no_tracker"),
        ("403", NoTracker, "no_tracker"),
        ("404", NoTicket, "no_ticket"),
        ("429", TicketError, "rate_limited"),
        ("500", TicketError, "ticket_failed"),
        ("html", TicketError, "ticket_failed"),
        ("deep", TicketError, "ticket_failed"),
    ],
)
def test_what_goes_wrong_is_told_apart(server: Server, how: str, error: type[Exception], code: str) -> None:
    server.how = how
    with pytest.raises(error) as found:
        jira(server).fetch("SHOP-12")
    assert getattr(found.value, "code", "") == code
    assert getattr(found.value, "hint", "")
    assert "secret" not in str(found.value)


def test_a_slow_server_is_given_up(server: Server) -> None:
    server.how = "slow"
    source = jira(server)
    source.timeout = 0.3
    with pytest.raises(TimedOut):
        source.fetch("SHOP-12")


def test_credentials_do_not_follow_to_another_host(server: Server) -> None:
    with Server() as other:
        thread = threading.Thread(target=other.serve_forever, args=(0.02,))
        thread.start()
        server.how, server.location = "302", f"http://127.0.0.1:{other.server_address[1]}/rest/api/3/issue/SHOP-12"
        with pytest.raises(TicketError) as found:
            jira(server).fetch("SHOP-12")
        other.shutdown()
        thread.join()
        assert other.asked == []
    assert found.value.code == "redirected"
    server.location = "/again"
    with pytest.raises(TicketError, match="in circles"):
        jira(server).fetch("SHOP-12")


@pytest.mark.parametrize(
    "environ, error",
    [
        ({"JIRA_URL": ""}, NoTracker),
        ({"JIRA_API_TOKEN": ""}, NoTracker),
        ({"JIRA_URL": "file:///etc/passwd"}, NoTracker),
        ({"JIRA_URL": "http://me:secret@127.0.0.1:1"}, NoTracker),
        ({"JIRA_URL": "http://127.0.0.1:1"}, TicketError),
    ],
)
def test_settings_that_cannot_be_used_are_said(server: Server, environ: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error) as found:
        jira(server, PATH="/nowhere", **environ).fetch("SHOP-12")
    assert getattr(found.value, "hint", "")
    assert "secret" not in str(found.value)


@pytest.mark.parametrize("key", ["", "SHOP", "SHOP-", "../x-1", "SHOP-1?x=1", "-SHOP-1"])
def test_only_a_key_is_asked_for(server: Server, key: str) -> None:
    with pytest.raises(UsageError):
        jira(server).fetch(key)
    assert server.asked == []


def test_the_jira_program_serves_where_there_is_no_address(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "jira"
    reply = json.dumps(server.ticket("3")).replace("'", "")
    program.write_text(
        f"#!/bin/sh\n[ \"$*\" = 'issue view SHOP-12 --raw' ] || {{ echo '404: does not exist' >&2; exit 1; }}\n"
        f"cat <<'END'\n{reply}\nEND\n"
    )
    program.chmod(0o755)
    source = Jira(str(tmp_path), {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert source.fetch("SHOP-12").title == "Fix the login crash"
    with pytest.raises(NoTicket, match="there is no SHOP-13 in Jira: 404"):
        source.fetch("SHOP-13")
