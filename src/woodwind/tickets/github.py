"""GitHub issues and pull requests, through its own program `gh`."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import urlencode

from woodwind.base.run import Done
from woodwind.model.errors import UsageError, WoodwindError
from woodwind.model.ticket import ISSUE, PULL_REQUEST, Comment, Ticket, tidy
from woodwind.tickets.base import NoTicket, NoTracker, Source, TicketError
from woodwind.tickets.programs import call, complaint, decoded

# Debian's gh 2.23 knows all of these. Without id and title it answers for a number that does not exist.
_FIELDS = "id,number,title,body,url,state,author,labels,comments"
_ISSUE_FIELDS = f"{_FIELDS},assignees"
_PULL_FIELDS = f"{_FIELDS},headRefName,headRefOid,baseRefName,isCrossRepository,headRepositoryOwner"
_INSTALL = "Install it: apt install gh, brew install gh, or see https://cli.github.com"
_IN_PROGRESS = {"in progress", "in-progress", "wip", "blocked"}
_HERE = "repos/{owner}/{repo}"  # gh puts in the repository that the remotes lead to
_MOST_PAGES = 10
_LOG_IN = "Log in: gh auth login, or set GH_TOKEN."


class PullRequest(NamedTuple):
    """A pull request, and where its commits are."""

    ticket: Ticket
    repository: str  # as in github.com/owner/name
    head_branch: str
    head_commit: str
    head_owner: str
    base_branch: str
    from_fork: bool


class GitHub(Source):
    """The issues and pull requests of the repository that the checkout's remotes lead to."""

    name = "github"

    def fetch(self, id: str) -> Ticket:
        """The issue with this number."""
        ticket = _ticket(self._view("issue", id, _ISSUE_FIELDS), ISSUE)
        if "/pull/" in ticket.url:
            raise UsageError(f"{ticket.id} is a pull request, not an issue", hint=f"ww new --pr {ticket.id}")
        return ticket

    def pull_request(self, id: str) -> PullRequest:
        """The pull request with this number."""
        found = self._view("pr", id, _PULL_FIELDS)
        ticket = _ticket(found, PULL_REQUEST)
        place = re.fullmatch(r"https?://([\w.:-]+/[\w.-]+/[\w.-]+)/pull/\d+", ticket.url)
        if not place or not re.fullmatch(r"[0-9a-f]{40,64}", str(found.get("headRefOid"))):
            raise TicketError(f"GitHub's answer about pull request {ticket.id} lacks its address or its commit")
        owner = found.get("headRepositoryOwner")
        return PullRequest(
            ticket=ticket,
            repository=place[1],
            head_branch=str(found.get("headRefName") or ""),
            head_commit=str(found["headRefOid"]),
            head_owner=str(owner.get("login") or "") if isinstance(owner, dict) else "",
            base_branch=str(found.get("baseRefName") or ""),
            # One that is not plainly from the repository itself is a stranger's.
            from_fork=found.get("isCrossRepository") is not False,
        )

    def ready(self, epic: str) -> list[Ticket]:
        """The open issues with a label (`label:NAME` or `NAME`) or milestone (`milestone:NAME`) that nobody has."""
        way, _, name = epic.rpartition(":")
        if way not in ("", "label", "milestone") or not name:
            raise UsageError(f"an epic on GitHub is a label or milestone:NAME, found {epic!r}")
        words = {"state": "open", "per_page": "100", "sort": "created", "direction": "asc"}
        words |= {"milestone": self._milestone(name)} if way == "milestone" else {"labels": name}
        tickets = [_ticket(_from_rest(entry), ISSUE) for entry in self._all("issues", words)]
        free = [t for t in tickets if t.state == "open" and not _IN_PROGRESS & {label.lower() for label in t.labels}]
        return [t._replace(parent=epic) for t in free if "/pull/" not in t.url]

    def _milestone(self, title: str) -> str:
        for entry in self._all("milestones", {"state": "open", "per_page": "100"}):
            if entry.get("title") == title:
                return str(entry.get("number"))
        raise NoTicket(
            f"there is no open milestone {title!r}", hint="`gh api repos/{owner}/{repo}/milestones` lists them."
        )

    def _all(self, what: str, words: dict[str, str]) -> list[dict[str, Any]]:
        """All entries of a list over REST: `gh issue list` would search, and a search lags behind."""
        found: list[dict[str, Any]] = []
        for page in range(1, _MOST_PAGES + 1):
            path = f"{_HERE}/{what}?{urlencode({**words, 'page': str(page)})}"
            entries = decoded(self, self._gh("api", path))
            if not isinstance(entries, list):
                raise TicketError(f"GitHub's list of {what} is not a list")
            found += [entry for entry in entries if isinstance(entry, dict)]
            if len(entries) < int(words["per_page"]):
                break
        return found

    def claim(self, id: str) -> None:
        """Assign the issue to whoever is logged in, unless somebody else has it."""
        me = self._gh("api", "user", "--jq=.login").text.strip()
        holders = self._holders(id)
        if holders and me not in holders:
            raise TicketError(f"issue {id} is already taken by {', '.join(sorted(holders))}", code="already_claimed")
        path = f"{_HERE}/issues/{_number(id)}/assignees"
        self._gh("api", "--method=POST", path, "--input=-", input=json.dumps({"assignees": [me]}))
        if me not in self._holders(id):
            raise TicketError(f"issue {id} was not assigned to {me}, though gh said so")

    def progress(self, id: str, text: str) -> None:
        """A comment on the issue."""
        self._gh("issue", "comment", _number(id), "--body-file=-", input=text)

    def close(self, id: str, text: str) -> None:
        """Close the issue, with a comment."""
        if text:
            self.progress(id, text)
        self._gh("issue", "close", _number(id))
        if self.fetch(id).state != "closed":
            raise TicketError(f"issue {id} is still open, though gh said that it closed it")

    def _holders(self, id: str) -> set[str]:
        found = self._view("issue", id, "id,number,title,assignees")
        return {str(a.get("login")) for a in found.get("assignees") or [] if isinstance(a, dict)}

    def _view(self, what: str, id: str, fields: str) -> dict[str, Any]:
        number = _number(id)
        try:
            found = decoded(self, self._gh(what, "view", number, f"--json={fields}"))
        except NoTicket as error:
            # An issue's number finds a pull request, too; the other way round it does not.
            other = f" If it is an issue: ww new --issue {number}" if what == "pr" else ""
            kind = "pull request" if what == "pr" else "issue"
            raise NoTicket(
                f"there is no {kind} {number}: {error.message}", hint=f"`gh {what} list` shows what there is.{other}"
            ) from error
        if not isinstance(found, dict) or str(found.get("number")) != number or not found.get("id"):
            raise TicketError(f"GitHub's answer is not about {what} {number}")
        return found

    def _gh(self, *words: str, input: str = "") -> Done:
        done = call(self, ["gh", *words], install=_INSTALL, input=input)
        if done.code:
            raise _failure(done, " ".join(words[:3]))
        return done


def _failure(done: Done, what: str) -> WoodwindError:
    said = complaint(done)
    low = said.lower()
    if "no git remotes" in low or "none of the git remotes" in low:
        return TicketError(
            "no remote of this repository leads to a GitHub that gh knows, so its issues are not known",
            code="no_remote",
            hint="For example: git remote add origin git@github.com:OWNER/NAME.git; "
            "for a GitHub of your own, gh auth login --hostname HOST",
        )
    if done.code == 4 or "gh auth login" in low or "http 401" in low or "bad credentials" in low:
        return NoTracker(f"gh is not logged in: {said}", hint=_LOG_IN)
    if "rate limit" in low:
        return TicketError(f"GitHub takes no more requests for now: {said}", code="rate_limited", hint="Wait a while.")
    if "could not resolve to" in low or "http 404" in low:
        return NoTicket(f"gh {what}: {said}", hint="`gh issue list` and `gh pr list` show what there is.")
    return TicketError(f"gh {what}: {said}", hint="Try it again later; https://www.githubstatus.com tells of troubles.")


def _number(id: str) -> str:
    number = id.removeprefix("#")
    if not (number.isascii() and number.isdecimal() and 0 < int(number) < 10**9):
        raise UsageError(f"a number was wanted, found {id!r}", hint="For example: ww new --issue 7")
    return str(int(number))


def _ticket(found: dict[str, Any], kind: str) -> Ticket:
    comments = [c for c in found.get("comments") or [] if isinstance(c, dict)]
    state = "open" if found.get("state") == "OPEN" else "closed"
    return tidy(
        Ticket(
            source="github",
            id=str(found.get("number") or ""),
            title=str(found.get("title") or ""),
            body=str(found.get("body") or ""),
            url=str(found.get("url") or ""),
            labels=[str(label.get("name")) for label in found.get("labels") or [] if isinstance(label, dict)],
            comments=[
                Comment(_login(c.get("author")), str(c.get("body") or ""), str(c.get("createdAt") or ""))
                for c in comments
            ],
            state="claimed" if state == "open" and found.get("assignees") else state,
            kind=kind,
        )
    )


def _from_rest(entry: dict[str, Any]) -> dict[str, Any]:
    """An issue of the REST interface in the words of the other one."""
    return {**entry, "url": entry.get("html_url"), "state": str(entry.get("state")).upper(), "comments": []}


def _login(author: Any) -> str:
    return str(author.get("login") or "") if isinstance(author, dict) else ""
