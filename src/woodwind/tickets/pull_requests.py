"""Pull requests that are opened from here, through `gh` and GitHub's own REST interface, which both versions speak."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import urlencode

from woodwind.tickets.base import TicketError
from woodwind.tickets.github import GitHub
from woodwind.tickets.programs import decoded

_HERE = "repos/{owner}/{repo}"  # gh puts in the repository that the remotes lead to


class Opened(NamedTuple):
    """A pull request that is open."""

    number: int
    url: str


class PullRequests(GitHub):
    """The pull requests of the repository that the checkout's remotes lead to."""

    def of_branch(self, owner: str, branch: str) -> Opened | None:
        """The open pull request from this branch, or None."""
        words = urlencode({"head": f"{owner}:{branch}", "state": "open"})
        found = decoded(self, self._gh("api", f"{_HERE}/pulls?{words}"))
        if not isinstance(found, list):
            raise TicketError("GitHub's list of pull requests is not a list")
        return _opened(found[0]) if found else None

    def open(self, owner: str, branch: str, base: str, title: str, body: str, *, draft: bool) -> Opened:
        """Open one; title and body go to its standard input, where no process list shows them."""
        asked = {"head": f"{owner}:{branch}", "base": base, "title": title, "body": body, "draft": draft}
        done = self._gh("api", "--method=POST", f"{_HERE}/pulls", "--input=-", input=json.dumps(asked))
        return _opened(decoded(self, done))


def _opened(entry: Any) -> Opened:
    if not isinstance(entry, dict) or not isinstance(entry.get("number"), int) or not entry.get("html_url"):
        raise TicketError("GitHub's answer about the pull request lacks its number or its address")
    return Opened(entry["number"], str(entry["html_url"]))


def owner_of(url: str) -> str:
    """Whose repository an address on GitHub is, or "" when that cannot be told."""
    found = re.search(r"[:/]([\w.-]+)/[\w.-]+?(?:\.git)?/?$", url)
    return found[1] if found else ""
