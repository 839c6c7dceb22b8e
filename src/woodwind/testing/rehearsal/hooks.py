"""Event hooks as coding agents have them: one command per event, its facts as JSON on standard input."""

from __future__ import annotations

import json
import os

from woodwind.testing.rehearsal import process
from woodwind.testing.rehearsal.terminal import Plain

_LIMIT_SECONDS = 10.0


class Hooks:
    """Calls the hook commands of the environment and of the command line, or does nothing where there is none."""

    def __init__(self, screen: Plain, session_id: str, command: str = "") -> None:
        self.session_id = session_id
        self.busy = False
        self._screen = screen
        # The command line's last: whoever hears by it that something happened finds the other hook done, too.
        self._commands = [found for found in (os.environ.get("REHEARSAL_HOOK", ""), command) if found]

    def fire(self, event: str, prompt_id: str | None, **facts: object) -> None:
        """Runs the hooks for one event to their end; a hook that fails or hangs changes nothing."""
        payload = {"hook_event_name": event, "session_id": self.session_id, "prompt_id": prompt_id}
        data = json.dumps({**payload, "cwd": os.getcwd(), **facts}).encode() + b"\n"
        self.busy = True
        try:
            for command in self._commands:
                try:
                    process.run(self._screen, ["sh", "-c", command], data=data, limit=_LIMIT_SECONDS)
                except OSError:
                    # As with real agents: a hook that cannot start must not stop the work.
                    continue
        finally:
            self.busy = False
