"""Jira Cloud and Server over REST, or through the `jira` program where that is what is configured."""

import base64
import re
import urllib.parse
from typing import Any

from woodwind.base.run import find_program
from woodwind.model.errors import UsageError
from woodwind.model.text import one_line
from woodwind.model.ticket import Comment, Ticket, tidy
from woodwind.tickets.adf import to_markdown
from woodwind.tickets.base import NoTicket, NoTracker, Source, TicketError
from woodwind.tickets.http import Reply, ask
from woodwind.tickets.programs import call, complaint, decoded

_FIELDS = "summary,issuetype,status,priority,labels,parent,comment,description,assignee"
_STATES = {"new": "open", "indeterminate": "claimed", "done": "closed"}
_SET_UP = (
    "Set JIRA_URL, JIRA_API_TOKEN and, for Jira Cloud, JIRA_LOGIN (your e-mail address); or set up the `jira` program."
)
_REFUSED = "Is JIRA_API_TOKEN still valid, and is it for this JIRA_URL and JIRA_LOGIN?"
_CLOUD = "Jira Cloud needs JIRA_LOGIN (your e-mail address), too."
_UNSEEN = "Jira says so, too, of what you may not see."
_LATER = "Try it again later; does its page open in a browser?"
_MOST_STEPS = 3


class Jira(Source):
    """The tickets of the server that JIRA_URL names."""

    name = "jira"
    api = 3  # Cloud's; a server of one's own answers only to 2

    def fetch(self, id: str) -> Ticket:
        """The ticket with this key."""
        key = _key(id)
        if not self._url and find_program("jira", self.child_environ["PATH"]):
            return self._ticket(self._from_program(key))
        return self._ticket(self._issue(key))

    def ready(self, epic: str) -> list[Ticket]:
        """The tickets of an epic, or of a query in Jira's own language, that are still to be done."""
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*-\d+", epic):
            self._issue(_key(epic))  # an epic that is not there is no empty one; and it tells which interface there is
            field = "parent" if self.api == 3 else '"Epic Link"'
            query = f'{field} = {_key(epic)} AND statusCategory = "To Do" ORDER BY rank'
        else:
            query = epic
        words = {"jql": query, "fields": _FIELDS, "maxResults": "200"}
        reply = self._ask("GET", f"/rest/api/3/search/jql?{urllib.parse.urlencode(words)}")
        if reply.status == 404:
            self.api = 2
            reply = self._ask("GET", f"/rest/api/2/search?{urllib.parse.urlencode(words)}")
        found = self._checked(reply, query)
        entries = found.get("issues") if isinstance(found, dict) else None
        if not isinstance(entries, list):
            raise TicketError("Jira's answer to a search has no list of issues")
        tickets = [self._ticket(entry) for entry in entries if isinstance(entry, dict)]
        return [ticket for ticket in tickets if ticket.state == "open" and ticket.kind.lower() != "epic"]

    def claim(self, id: str) -> None:
        """Assign the ticket to whoever the token is of, and move it to what is in progress."""
        key = _key(id)
        if self._ticket(self._issue(key)).state != "open":
            raise TicketError(f"{key} is not open any more", code="already_claimed")
        me = self._checked(self._ask("GET", self._path("myself")), "myself")
        who = {"accountId": me.get("accountId")} if me.get("accountId") else {"name": me.get("name")}
        self._checked(self._ask("PUT", self._path(f"issue/{key}/assignee"), who), key)
        self._move(key, "indeterminate")

    def progress(self, id: str, text: str) -> None:
        """A comment on the ticket."""
        key = _key(id)
        self._issue(key)
        body: Any = text
        if self.api == 3:
            lines = [{"type": "paragraph", "content": [{"type": "text", "text": ln}]} for ln in text.split("\n") if ln]
            body = {"type": "doc", "version": 1, "content": lines}
        self._checked(self._ask("POST", self._path(f"issue/{key}/comment"), {"body": body}), key)

    def close(self, id: str, text: str) -> None:
        """Move the ticket to what is done, with a comment."""
        if text:
            self.progress(id, text)
        self._move(_key(id), "done")

    def _move(self, key: str, category: str) -> None:
        """Take the first step that the ticket's workflow offers into a category, and see that it is there."""
        found = self._checked(self._ask("GET", self._path(f"issue/{key}/transitions")), key)
        steps = found.get("transitions") if isinstance(found, dict) else None
        for step in steps if isinstance(steps, list) else ():
            if _category(step.get("to")) == category:
                body = {"transition": {"id": step.get("id")}}
                self._checked(self._ask("POST", self._path(f"issue/{key}/transitions"), body), key)
                break
        if self._ticket(self._issue(key)).state != _STATES[category]:
            raise TicketError(f"{key} could not be moved to {_STATES[category]}: its workflow offers no such step")

    def _issue(self, key: str) -> dict[str, Any]:
        reply = self._ask("GET", self._path(f"issue/{key}?fields={_FIELDS}"))
        if (
            reply.status == 404
            and self.api == 3
            and not (isinstance(reply.data, dict) and "errorMessages" in reply.data)
        ):
            self.api = 2
            reply = self._ask("GET", self._path(f"issue/{key}?fields={_FIELDS}"))
        found = self._checked(reply, key)
        if not isinstance(found, dict) or not isinstance(found.get("fields"), dict):
            raise TicketError(
                f"Jira's answer about {key} is not a ticket", hint="Is JIRA_URL the server's own address?"
            )
        return found

    def _path(self, rest: str) -> str:
        return f"/rest/api/{self.api}/{rest}"

    @property
    def _url(self) -> str:
        return self.environ.get("JIRA_URL", "").rstrip("/")

    def _ask(self, method: str, path: str, body: Any = None) -> Reply:
        url, token = self._url, self.environ.get("JIRA_API_TOKEN", "")
        if not url or not token:
            raise NoTracker(f"{'JIRA_API_TOKEN' if url else 'JIRA_URL'} is not set", hint=_SET_UP)
        place = urllib.parse.urlsplit(url)
        if place.scheme not in ("http", "https") or not place.hostname or place.username:
            raise NoTracker(
                f"JIRA_URL is not a plain web address: {one_line(url.rpartition('@')[2], 80)}",
                hint="For example: https://jira.example.com",
            )
        login = self.environ.get("JIRA_LOGIN", "")
        basic = base64.b64encode(f"{login}:{token}".encode()).decode()
        where = url + path
        for _ in range(_MOST_STEPS):
            reply = ask(method, where, f"Basic {basic}" if login else f"Bearer {token}", self.timeout, body)
            if reply.status not in (301, 302, 303, 307, 308):
                return reply
            target = urllib.parse.urlsplit(urllib.parse.urljoin(where, reply.location))
            if (target.scheme, target.netloc) != (place.scheme, place.netloc) or method != "GET":
                raise TicketError(
                    f"{place.netloc} sends us on to {one_line(target.netloc, 80)}, which does not get your credentials",
                    code="redirected",
                    hint="Set JIRA_URL to the address that is meant.",
                )
            where = target.geturl()
        raise TicketError(f"{place.netloc} sends us in circles", code="redirected")

    def _checked(self, reply: Reply, what: str) -> Any:
        messages = reply.data.get("errorMessages") if isinstance(reply.data, dict) else None
        said = one_line(" ".join(map(str, messages)), 200) if isinstance(messages, list) else ""
        if reply.status in (401, 403):
            raise NoTracker(
                f"Jira refuses these credentials ({reply.status}){said and ': ' + said}",
                hint=_REFUSED if self.environ.get("JIRA_LOGIN") else f"{_REFUSED} {_CLOUD}",
            )
        if reply.status == 404:
            raise NoTicket(f"there is no {one_line(what, 80)} in Jira{said and ': ' + said}", hint=_UNSEEN)
        if reply.status == 429:
            raise TicketError("Jira takes no more requests for now", code="rate_limited", hint="Wait a while.")
        if not 200 <= reply.status < 300:
            raise TicketError(f"Jira answered with {reply.status}{said and ': ' + said}", hint=_LATER)
        return reply.data

    def _from_program(self, key: str) -> dict[str, Any]:
        done = call(self, ["jira", "issue", "view", key, "--raw"], install=_SET_UP)
        if done.code:
            said = complaint(done)
            if "404" in said or "does not exist" in said.lower():
                raise NoTicket(f"there is no {key} in Jira: {said}", hint=_UNSEEN)
            raise NoTracker(f"the `jira` program cannot tell about {key}: {said}", hint=_SET_UP)
        found = decoded(self, done)
        if not isinstance(found, dict) or not isinstance(found.get("fields"), dict):
            raise TicketError(f"the `jira` program's answer about {key} is not a ticket")
        return found

    def _ticket(self, found: dict[str, Any]) -> Ticket:
        raw = found.get("fields")
        fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
        comments = _table(fields.get("comment")).get("comments")
        key = str(found.get("key") or "")
        return tidy(
            Ticket(
                source="jira",
                id=key,
                title=str(fields.get("summary") or ""),
                body=to_markdown(fields.get("description")),
                url=f"{self._url}/browse/{key}" if self._url else "",
                labels=[str(label) for label in fields.get("labels") or []],
                comments=[
                    Comment(
                        str(_table(c.get("author")).get("displayName") or ""),
                        to_markdown(c.get("body")),
                        str(c.get("created") or ""),
                    )
                    for c in (comments if isinstance(comments, list) else [])
                    if isinstance(c, dict)
                ],
                state=_STATES.get(_category(fields.get("status")), "open"),
                kind=str(_table(fields.get("issuetype")).get("name") or "issue"),
                parent=str(_table(fields.get("parent")).get("key") or ""),
            )
        )


def _key(id: str) -> str:
    key = id.strip().upper()
    if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,30}-\d{1,10}", key):
        raise UsageError(f"{one_line(id, 60)!r} is not a Jira key", hint="For example: ww new --jira SHOP-12")
    return key


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _category(status: Any) -> str:
    """new, indeterminate or done: what a status means, whatever a team calls it."""
    return str(_table(_table(status).get("statusCategory")).get("key") or "")
