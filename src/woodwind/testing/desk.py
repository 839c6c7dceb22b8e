"""A terminal with the control plane on it: the real program in a real tmux, by its keys, on what it paints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from woodwind.testing.daemons import ON
from woodwind.testing.sandbox import Sandbox

PATIENCE = 60.0
# How the line of a row begins: the section's mark, and whether it is selected.
_MARKS = {f"{selected}{mark}".strip() for selected in ("▶ ", "") for mark in "!✓●·"}


class Desk:
    """`ww` with some words in a terminal of its own, on the sandbox's tmux server `desk`."""

    server = "desk"

    def __init__(
        self,
        box: Sandbox,
        repo: Path,
        *words: str,
        size: tuple[int, int] = (160, 40),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.box = box
        argv = (sys.executable, "-m", "woodwind", *words)
        self.pane = box.run_in_pane(*argv, server=self.server, cwd=repo, env={**ON, **(env or {})}, size=size)

    def text(self) -> str:
        """What is painted."""
        return self.box.screen(self.pane, server=self.server)

    def shows(self, *wanted: str, without: str = "\0") -> str:
        """What is painted once all of this is on the screen, and `without` is not."""
        last = ""

        def there() -> bool:
            nonlocal last
            last = self.text()
            return all(words in last for words in wanted) and without not in last

        try:
            self.box.wait_for(there, PATIENCE)
        except AssertionError:
            raise AssertionError(f"{wanted} (without {without!r}) never came:\n{last}") from None
        return last

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self.box.press(self.pane, *keys, server=self.server)

    def type(self, text: str) -> None:
        """Type a text, without Enter."""
        self.box.type_in(self.pane, text, enter=False, server=self.server)

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal another size."""
        words = ("resize-window", "-t", self.pane, "-x", str(columns), "-y", str(lines))
        self.box.tmux(*words, server=self.server)

    @property
    def selected(self) -> str:
        """The line of the selected row; "" where none is."""
        return next((line for line in self.text().splitlines() if line.startswith("▶")), "")

    def select(self, words: str) -> None:
        """Go to the row that has these words."""

        def there() -> bool:
            rows = [line for line in self.text().splitlines() if line[:3].strip() in _MARKS]
            at = next((n for n, line in enumerate(rows) if line.startswith("▶")), None)
            wanted = next((n for n, line in enumerate(rows) if words in line), None)
            if at is None or wanted is None:
                return False
            if at == wanted:
                return True
            self.press(*["Down" if wanted > at else "Up"] * abs(wanted - at))
            row = rows[wanted][4:30]
            try:
                self.box.wait_for(lambda: row in self.selected, 5)
            except AssertionError:
                return False  # rows moved meanwhile: once more
            return True

        self.box.wait_for(there, PATIENCE, f"the row {words!r}")

    def leave(self) -> int:
        """The exit status after `q`."""
        self.press("q")
        return self.box.exit_status(self.pane, server=self.server, timeout=PATIENCE)
