"""What a tracker has to be able to do: a class with defaults, so that a small source is a small file."""

import os
from collections.abc import Mapping

from woodwind.model.errors import EXIT_MISSING_TOOL, EXIT_NOT_FOUND, UsageError, WoodwindError
from woodwind.model.ticket import Ticket


class TicketError(WoodwindError):
    """A tracker that did not do what was asked of it, though it was there."""

    code = "ticket_failed"


class NoTicket(WoodwindError):
    """The tracker answered: there is no such ticket."""

    exit_code = EXIT_NOT_FOUND
    code = "no_ticket"


class NoTracker(WoodwindError):
    """The tracker cannot be used: its program is missing, nobody is logged in, or its address is not known."""

    exit_code = EXIT_MISSING_TOOL
    code = "no_tracker"


class Source:
    """One tracker, as seen from a repository. Every call ends: with an answer, or with an error that says why."""

    name = ""
    package = ""  # the installed package that it came with; "" for one of our own
    timeout = 30.0  # seconds that the tracker has for one answer

    def __init__(self, folder: str, environ: Mapping[str, str], where: str = "") -> None:
        """`folder` is the checkout that tickets are asked for; `where` a list's file, for a source that needs one."""
        self.folder = folder
        self.environ = environ
        self.where = where

    @property
    def child_environ(self) -> dict[str, str]:
        """The environment for a tracker's own program: the caller's, with no questions, pager or colours."""
        quiet = {"NO_COLOR": "1", "PAGER": "cat", "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
        return {**self.environ, **quiet, "PATH": self.environ.get("PATH", os.defpath)}

    def fetch(self, id: str) -> Ticket:
        """The ticket with this id; NoTicket when there is none."""
        raise self.cannot("give out a ticket")

    def ready(self, epic: str) -> list[Ticket]:
        """The tickets of an epic that somebody could start on now, in the tracker's own order."""
        raise self.cannot("list what is ready")

    def claim(self, id: str) -> None:
        """Mark a ticket as being worked on; an error unless the tracker then says so, too."""
        raise self.cannot("be told who works on what")

    def progress(self, id: str, text: str) -> None:
        """Tell the tracker how it goes."""
        raise self.cannot("be told how it goes")

    def close(self, id: str, text: str) -> None:
        """Mark a ticket as done; an error unless the tracker then says so, too."""
        raise self.cannot("be told that something is done")

    def cannot(self, what: str) -> UsageError:
        """The error for a wish that this source cannot fulfil."""
        return UsageError(f"the source {self.name} cannot {what}", code="source_cannot")
