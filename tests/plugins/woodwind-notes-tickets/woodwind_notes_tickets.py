"""Tickets from a folder of text files: `notes/ID.txt`, whose first line is the title."""

from pathlib import Path

from woodwind.model.ticket import Ticket
from woodwind.tickets.base import NoTicket, Source


class Notes(Source):
    """One file is one ticket; it is done when it is gone."""

    def fetch(self, id: str) -> Ticket:
        """The ticket in the file of this name."""
        path = Path(self.folder, "notes", f"{id}.txt")
        if not id.isalnum() or not path.is_file():
            raise NoTicket(f"there is no note {id!r}")
        title, _, body = path.read_text("utf-8").partition("\n")
        return Ticket("notes", id, title, body)
