"""What an operation gives back: data, remarks for a person, and how it ended."""

from woodwind.model.errors import EXIT_DONE
from woodwind.model.typed import Any


class Outcome:
    """The result of one op. `data` is JSON-ready; `notes` are remarks worth reading."""

    __slots__ = ("data", "exit_code", "notes")

    def __init__(self, data: Any = None, *, notes: list[str] | None = None, exit_code: int = EXIT_DONE) -> None:
        self.data = data
        self.notes = notes or []
        self.exit_code = exit_code
