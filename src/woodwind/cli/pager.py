"""The user's own pager, for what may be longer than a screen."""

import os
import tempfile

from woodwind.base.run import spawn


def page(text: str) -> None:
    """Show a text in the user's pager; `less` with colours, which leaves at once when all fits, by default."""
    pager = os.environ.get("GIT_PAGER") or os.environ.get("PAGER") or "less -FRX"
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        pid = spawn(["sh", "-c", pager], stdin=file.fileno())
        while True:
            try:
                os.waitpid(pid, 0)
                return
            except KeyboardInterrupt:
                continue  # the pager got it too, and decides
