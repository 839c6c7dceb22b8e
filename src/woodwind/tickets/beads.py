"""Beads, through `bd` or `br`: one adapter for the shapes of both, which believes an answer and not an exit status."""

import json
import os
import re
from typing import Any

from woodwind.base.run import Done, find_program
from woodwind.model.errors import UsageError
from woodwind.model.text import clean, one_line
from woodwind.model.ticket import EPIC, Comment, Ticket, tidy
from woodwind.tickets.base import NoTicket, NoTracker, Source, TicketError
from woodwind.tickets.programs import call, complaint

_INSTALL = "Install beads (bd: npm install -g @beads/bd) or its Rust sister (br), and run its `init` here."
_STATES = {"open": "open", "in_progress": "claimed", "closed": "closed", "blocked": "blocked"}
_MOST = "1000"  # they list only the first 10, 50 or 100 otherwise


class Beads(Source):
    """The beads of the repository, by whichever of the two programs is installed."""

    name = "beads"

    @property
    def child_environ(self) -> dict[str, str]:
        # Its background process writes to the repository at times of its own.
        return {**super().child_environ, "BEADS_NO_DAEMON": "1", "BD_JSON_ENVELOPE": "1"}

    def fetch(self, id: str) -> Ticket:
        """The bead with this id."""
        return _ticket(self._one(["show", _checked(id)], id))

    def ready(self, epic: str) -> list[Ticket]:
        """The beads of an epic (or all, for "") that nothing blocks and nobody has."""
        children = set()
        if epic:
            told = self._one(["show", _checked(epic)], epic)
            links = [d for d in told.get("dependents") or [] if isinstance(d, dict)]
            kinds = ("dependency_type", "type", "dep_type")
            children = {str(d.get("id")) for d in links if "parent-child" in [d.get(kind) for kind in kinds]}
        found = [_ticket(entry) for entry in self._ask("ready", f"--limit={_MOST}")]
        return [
            ticket
            for ticket in found
            if ticket.kind != EPIC
            and ticket.state == "open"
            and (not epic or ticket.parent == epic or ticket.id.startswith(f"{epic}.") or ticket.id in children)
        ]

    def claim(self, id: str) -> None:
        """Take the bead, unless somebody has it."""
        if self.fetch(id).state != "open":
            raise TicketError(f"{id} is not open any more", code="already_claimed")
        self._expect(["update", _checked(id), "--claim"], id, "in_progress")

    def progress(self, id: str, text: str) -> None:
        """A comment on the bead."""
        done = self._call("comments", "add", _checked(id), "--", clean(text).strip()[:4000] or "…")
        self._replies(done)

    def close(self, id: str, text: str) -> None:
        """Close the bead, with the reason."""
        self._expect(["close", _checked(id), f"--reason={one_line(text, 400) or 'done'}"], id, "closed")

    def _expect(self, words: list[str], id: str, status: str) -> None:
        found = self._one(words, id)
        if found.get("status") != status:
            raise TicketError(f"{id} should be {status} by now, and is {one_line(str(found.get('status')), 40)!r}")

    def _one(self, words: list[str], id: str) -> dict[str, Any]:
        entries = self._ask(*words)
        for entry in entries:
            if entry.get("id") == id:
                return entry
        raise TicketError(f"{words[0]} of {id} was answered with {len(entries)} other beads")

    def _ask(self, *words: str) -> list[dict[str, Any]]:
        return self._replies(self._call(*words, "--json"))

    def _call(self, *words: str) -> Done:
        path = self.child_environ["PATH"]
        program = next((name for name in ("bd", "br") if find_program(name, path)), "bd")
        return call(self, [program, *words], install=_INSTALL)

    def _replies(self, done: Done) -> list[dict[str, Any]]:
        """The beads in an answer; an error also where the exit status says that all went well."""
        try:
            found = json.loads(done.stdout) if done.stdout.strip() else None
        except (ValueError, RecursionError):
            found = None
        if done.code or (isinstance(found, dict) and "error" in found):
            raise _failure(done, found)
        if found is None and "comments" not in done.argv:
            program = os.path.basename(done.argv[0])
            raise TicketError(
                f"{program} gave no answer: {complaint(done)}", hint=f"See whether `{program} doctor` complains."
            )
        for key in ("data", "issues"):
            if isinstance(found, dict) and key in found:
                found = found[key]
        entries = found if isinstance(found, list) else [found]
        return [entry for entry in entries if isinstance(entry, dict)]


def _failure(done: Done, found: Any) -> NoTicket | NoTracker | TicketError:
    error = found.get("error") if isinstance(found, dict) else None
    if error is None:
        try:
            error = json.loads(done.stderr).get("error")
        except (ValueError, RecursionError, AttributeError):
            error = None
    said = str(error.get("message") if isinstance(error, dict) else error) if error else complaint(done)
    said = one_line(said, 400)
    low = said.lower()
    if "no beads database" in low or "not initialized" in low or "no database" in low:
        return NoTracker(f"there are no beads here: {said}", hint="Run `bd init` or `br init` in the repository.")
    if "not found" in low or "no issue" in low or (done.code == 3 and b'"error"' in done.stderr):
        return NoTicket(f"beads: {said}", hint=f"`{os.path.basename(done.argv[0])} list` shows what there is.")
    return TicketError(f"beads: {said}")


def _checked(id: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,100}", id):
        raise UsageError(f"{one_line(id, 60)!r} cannot be a bead's id", hint="For example: ww new --bead app-a3f")
    return id


def _ticket(found: dict[str, Any]) -> Ticket:
    texts = {"design": "Design", "acceptance_criteria": "Acceptance criteria", "notes": "Notes"}
    body = [str(found.get("description") or "")]
    body += [f"{head}:\n{found[key]}" for key, head in texts.items() if found.get(key)]
    comments = [c for c in found.get("comments") or [] if isinstance(c, dict)]
    return tidy(
        Ticket(
            source="beads",
            id=str(found.get("id") or ""),
            title=str(found.get("title") or ""),
            body="\n\n".join(part for part in body if part),
            labels=[str(label) for label in found.get("labels") or []],
            comments=[
                Comment(str(c.get("author") or ""), str(c.get("text") or ""), str(c.get("created_at") or ""))
                for c in comments
            ],
            state=_STATES.get(str(found.get("status")), "open"),
            kind=str(found.get("issue_type") or "task"),
            parent=str(found.get("parent") or ""),
        )
    )
