"""GitHub's issues through the real `gh`, the current one and Debian's older one, against a GitHub on a Unix socket."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.model.errors import UsageError
from woodwind.testing.github_server import LOGIN, GitHubServer
from woodwind.testing.repo import git, make_repo
from woodwind.tickets.base import NoTicket, TicketError
from woodwind.tickets.github import GitHub

PROGRAMS = {"current": str(Path(sys.executable).parent / "gh"), "debian": "/usr/bin/gh"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHubServer]:
    # A Unix socket's path has about 100 bytes, which pytest's own folders use up.
    with tempfile.TemporaryDirectory(prefix="gh-") as short, GitHubServer(Path(short, "s"), tmp_path) as github:
        github.add_issue(7, "Fix it", "Body", labels=["shop"], comments=[("ann", "Me too")])
        github.add_issue(3, "First", labels=["shop"], milestone="3")
        github.add_issue(5, "Taken", labels=["shop"], assignees=["bob"])
        github.add_issue(6, "Stuck", labels=["shop", "Blocked"])
        github.add_issue(8, "Elsewhere", labels=["bank"])
        github.add_pull(9, "A pull request", labels=["shop"], headRefOid="a" * 40)
        yield github


@pytest.fixture(params=list(PROGRAMS))
def source(request: pytest.FixtureRequest, server: GitHubServer, tmp_path: Path) -> GitHub:
    program = PROGRAMS[request.param]
    if not os.access(program, os.X_OK):
        pytest.skip(f"there is no {program}: apt-get install gh brings Debian's")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").symlink_to(program)
    repo = make_repo(tmp_path / "repo")
    git(repo, "remote", "add", "origin", "git@github.com:o/r.git")
    found = GitHub(str(repo), {**server.env, "HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    found.timeout = 60
    return found


def test_an_issue_is_fetched_listed_claimed_told_about_and_closed(source: GitHub, server: GitHubServer) -> None:
    ticket = source.fetch("#7")
    assert (ticket.title, ticket.body, ticket.labels, ticket.state) == ("Fix it", "Body", ("shop",), "open")
    assert [(c.author, c.text) for c in ticket.comments] == [("ann", "Me too")]
    assert [t.id for t in source.ready("shop")] == ["7", "3"]
    assert [t.id for t in source.ready("milestone:The big 1.0")] == ["3"]
    with pytest.raises(NoTicket):
        source.ready("milestone:never")
    source.claim("7")
    assert server.issues[7]["assignees"]["nodes"] == [{"login": LOGIN}]
    with pytest.raises(TicketError, match="taken by bob") as taken:
        source.claim("5")
    assert taken.value.code == "already_claimed"
    source.close("7", "--body of `it`\nis done")
    assert server.issues[7]["state"] == "CLOSED"
    assert server.issues[7]["comments"]["nodes"][-1]["body"] == "--body of `it`\nis done"


def test_a_pull_request_says_where_its_commits_are(source: GitHub) -> None:
    pull = source.pull_request("9")
    assert (pull.repository, pull.head_branch, pull.head_owner) == ("github.com/o/r", "patch", "stranger")
    assert (pull.base_branch, pull.from_fork, pull.ticket.origin) == ("main", True, "github-pr:9")


def test_numbers_that_are_none_or_nobodys_are_said(source: GitHub) -> None:
    for wrong in ("", "x", "-1", "0", "7;ls", "99999999999", "٣"):
        with pytest.raises(UsageError):
            source.fetch(wrong)
    with pytest.raises(NoTicket, match="there is no issue 404: "):
        source.fetch("404")
    with pytest.raises(NoTicket, match="there is no pull request 7: ") as issue:
        source.pull_request("7")
    assert "ww new --issue 7" in issue.value.hint
    with pytest.raises(UsageError, match="is a pull request"):
        source.fetch("9")
