"""What a session remembers: one small JSON file per session id in the user's state folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class HistoryError(Exception):
    """A session that cannot be read, resumed or named; the message says why."""


def new_id() -> str:
    """A fresh random id in the form of a UUID (importing uuid would cost start-up time)."""
    digits = os.urandom(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


class History:
    """The turns of one session, written to its file at every change; nothing is written before the first."""

    def __init__(self, session_id: str, *, resume: bool = False) -> None:
        if not _ID.fullmatch(session_id):
            raise HistoryError(f"{session_id!r} is not a session id: letters, digits, '.', '_' and '-' only")
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        self.session_id = session_id
        self._path = Path(state, "rehearsal-agent", f"{session_id}.json")
        self._turns = self._read(resume)

    def __len__(self) -> int:
        """How many turns the session had."""
        return len(self._turns)

    def begin(self, prompt_id: str, prompt: str) -> None:
        """Remembers a turn that starts."""
        self._turns.append({"prompt_id": prompt_id, "prompt": prompt[:200], "outcome": "working"})
        self.save()

    def end(self, outcome: str) -> None:
        """Remembers how the turn that began last ended."""
        self._turns[-1]["outcome"] = outcome
        self.save()

    def save(self) -> None:
        """Writes the file, whole or not at all."""
        text = json.dumps({"session_id": self.session_id, "turns": self._turns})
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8")
            part.replace(self._path)
        except OSError as error:
            raise HistoryError(f"the session's history cannot be written: {error}") from None

    def _read(self, resume: bool) -> list[dict[str, str]]:
        try:
            found = list(json.loads(self._path.read_text(encoding="utf-8"))["turns"])
        except FileNotFoundError:
            if resume:
                raise HistoryError(f"no session {self.session_id} to resume") from None
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HistoryError(f"{self._path} is not a session's history: {error}") from None
        if not resume:  # as Claude Code does
            raise HistoryError(f"the session {self.session_id} is in use already: --resume goes on with it")
        return found
