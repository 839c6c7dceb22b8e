"""Event hooks as coding agents have them: one command per event, its facts as JSON on standard input."""

from __future__ import annotations

import json
import os

from woodwind.testing.rehearsal import process
from woodwind.testing.rehearsal.terminal import Plain

_LIMIT_SECONDS = 10.0


class Hooks:
    """Calls the hook command of the environment, or does nothing where there is none."""

    def __init__(self, screen: Plain, session_id: str) -> None:
        self.session_id = session_id
        self.busy = False
        self._screen = screen
        self._command = os.environ.get("REHEARSAL_HOOK")

    def fire(self, event: str, prompt_id: str | None, **facts: object) -> None:
        """Runs the hook for one event to its end; a hook that fails or hangs changes nothing."""
        if not self._command:
            return
        payload = {"hook_event_name": event, "session_id": self.session_id, "prompt_id": prompt_id}
        data = json.dumps({**payload, "cwd": os.getcwd(), **facts}).encode() + b"\n"
        self.busy = True
        try:
            process.run(self._screen, ["sh", "-c", self._command], data=data, limit=_LIMIT_SECONDS)
        except OSError:
            # As with real agents: a hook that cannot start must not stop the work.
            pass
        finally:
            self.busy = False
