"""A ticket: a piece of work in an outside tracker, as text from outside that nobody has vouched for."""

from collections.abc import Sequence
from typing import NamedTuple

from woodwind.model.text import clean, one_line

MOST_TEXT = 200_000  # characters of a body, and of all comments together, that are taken into a brief
ISSUE, PULL_REQUEST, EPIC = "issue", "pr", "epic"
_CALLED = {"beads": "bead"}  # one ticket of a source, where the source's own name will not do


class Comment(NamedTuple):
    """What somebody said about a ticket."""

    author: str
    text: str
    at: str = ""


class Ticket(NamedTuple):
    """One ticket. `state` is open, claimed or closed; `kind` issue, pr, epic, bug, …, in the tracker's own word."""

    source: str
    id: str
    title: str
    body: str = ""
    url: str = ""
    labels: Sequence[str] = ()
    comments: Sequence[Comment] = ()
    state: str = "open"
    kind: str = ISSUE
    parent: str = ""
    remarks: Sequence[str] = ()  # what is to be known about this copy: that it was cut short, for example

    @property
    def origin(self) -> str:
        """A reference that is kept with the worker: `github:7`, `github-pr:9`, `jira:SHOP-12`."""
        if ":" in self.source:  # a list in a file: markdown:TODO.md#fix-login
            return f"{self.source}#{self.id}"
        pull = "-pr" if self.kind == PULL_REQUEST else ""
        return f"{self.source}{pull}:{self.id}" if self.source else ""

    @property
    def is_pull_request(self) -> bool:
        """Whether it has commits of its own."""
        return self.source == "github" and self.kind == PULL_REQUEST

    @property
    def name(self) -> str:
        """What people call it: `GitHub issue 7`, `Jira SHOP-12`."""
        if self.source == "github":
            return f"GitHub {'pull request' if self.is_pull_request else 'issue'} {self.id}"
        kind, _, where = self.source.partition(":")
        return f"{self.id} in {where}" if where else f"{_CALLED.get(kind, kind.capitalize())} {self.id}"


def tidy(ticket: Ticket) -> Ticket:
    """The ticket with every text cleaned of control characters, and cut to what a brief can hold, which it says."""
    remarks = [*ticket.remarks]
    body = clean(ticket.body).strip()
    if len(body) > MOST_TEXT:
        remarks.append(f"the text was cut: it has {len(body)} characters, and the first {MOST_TEXT} are here")
        body = body[:MOST_TEXT]
    comments, room = [], MOST_TEXT
    for n, comment in enumerate(ticket.comments):
        text = clean(comment.text).strip()
        if len(text) > room:
            left = len(ticket.comments) - n
            remarks.append(f"the last {left} of {len(ticket.comments)} comments were left out: they are too long")
            break
        room -= len(text)
        comments.append(Comment(one_line(comment.author, 60), text, one_line(comment.at, 40)))
    return ticket._replace(
        id=one_line(ticket.id, 200),
        title=one_line(ticket.title, 300) or one_line(ticket.id, 200),
        body=body,
        url=web_address(ticket.url),
        labels=tuple(label for label in (one_line(text, 60) for text in ticket.labels[:50]) if label),
        comments=tuple(comments),
        kind=one_line(ticket.kind, 40) or ISSUE,
        parent=one_line(ticket.parent, 200),
        remarks=tuple(remarks),
    )


def web_address(text: str) -> str:
    """`text` if it is a plain web address, which may stand in a brief outside of the quotation; "" otherwise."""
    plain = text.startswith(("https://", "http://")) and len(text) <= 500
    return text if plain and text.isascii() and all(c.isalnum() or c in "-._~:/?#@!$&+,;=%" for c in text) else ""
