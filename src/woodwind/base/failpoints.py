"""Places where a test can make the program die or fail, to prove that nothing is lost."""

import errno
import os
import signal

_wanted, _, _mode = os.environ.get("WOODWIND_FAILPOINT", "").partition("=")


def failpoint(name: str) -> None:
    """Die by SIGKILL here when `WOODWIND_FAILPOINT=name`; fail as on a full disk when `name=error`."""
    if _wanted != name:
        return
    if _mode == "error":
        raise OSError(errno.ENOSPC, f"failpoint {name}")
    os.kill(os.getpid(), signal.SIGKILL)
