"""A bug: one clear line for the user, everything else for the log."""

import os
import sqlite3
import traceback

from woodwind import __version__
from woodwind.base import paths
from woodwind.base.clock import now
from woodwind.base.files import make_private_dir
from woodwind.model.errors import WoodwindError
from woodwind.store.db import is_whole, set_aside


def explain(error: Exception) -> WoodwindError:
    """What to tell the user about an unexpected error; its traceback goes to the log file."""
    if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError) and not is_whole(paths.database()):
        return WoodwindError(
            f"the store is damaged ({error}); it was set aside in {set_aside(paths.database())}",
            code="store_damaged",
            hint="Run the command again: the store is then rebuilt from git.",
        )
    if isinstance(error, OSError | sqlite3.OperationalError):
        where = f": {error.filename}" if isinstance(error, OSError) and error.filename else ""
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return WoodwindError(f"{reason}{where}", code="system", hint=f"Details are in {log_error(error)}.")
    return WoodwindError(
        f"a bug in Woodwind: {type(error).__name__}: {error}",
        code="bug",
        hint=f"Please report it with {log_error(error)}.",
    )


def log_error(error: Exception) -> str:
    """Write an error with its traceback to the log; return the log's path."""
    path = os.path.join(paths.state_dir(), "ww.log")
    try:
        make_private_dir(os.path.dirname(path))
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{now().isoformat()} woodwind {__version__}\n")
            file.write("".join(traceback.format_exception(error)))
    except (OSError, WoodwindError):
        return "no log, which could not be written"
    return path
