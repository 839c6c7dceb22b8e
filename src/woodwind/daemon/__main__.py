"""The daemon's process: `python -m woodwind.daemon`, started by `daemon.client` when there is something to watch."""

import gc
import os
import sys

from woodwind.base import paths
from woodwind.config.load import load
from woodwind.config.schema import Daemon
from woodwind.daemon.log import Log
from woodwind.daemon.server import serve
from woodwind.daemon.sockets import Taken
from woodwind.model.errors import WoodwindError

# Whoever started us may be an agent, or in some repository: we are neither.
_NOT_OURS = ("WOODWIND_WORKER", "WOODWIND_PROJECT", "WOODWIND_AUTOMATED", "WOODWIND_SOCKET", "WOODWIND_SPOOL")
# How long to wait for the one before us to go, with --replace.
_PATIENCE = 10.0


def main() -> None:
    """Be the daemon, unless there is one already."""
    os.chdir("/")
    for name in _NOT_OURS:
        os.environ.pop(name, None)
    log = Log(paths.daemon_log())
    try:
        settings = load().config.daemon
    except WoodwindError as error:
        settings = Daemon()  # a mistake in the file must not leave the agents unwatched; commands report it
        log.write("error", error.message)
    gc.freeze()  # the program itself stays: searched for garbage with all the rest, it would hold up events for 7 ms
    try:
        patience = _PATIENCE if "--replace" in sys.argv[1:] else 0.0
        serve(os.environ, idle=settings.idle_minutes * 60.0, patience=patience)
    except Taken:
        pass
    except Exception as error:  # noqa: BLE001 - nobody sees its output: the log has to tell
        log.write("error", f"ended by {type(error).__name__}: {error}")
        os._exit(1)
    os._exit(0)  # an op that still runs is journalled; to wait for it would keep the next daemon out


if __name__ == "__main__":
    main()
