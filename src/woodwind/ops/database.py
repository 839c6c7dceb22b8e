"""`ww db`: looking after the store."""

import os
import sqlite3
from typing import Any

from woodwind.base import paths
from woodwind.base.clock import days_ago, now
from woodwind.base.files import make_private_dir
from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.store import upkeep
from woodwind.store.db import SCHEMA


def health(ctx: Context, *, thorough: bool) -> dict[str, Any]:
    """Where the store is, how large, and what is wrong with it."""
    return {
        "path": ctx.store.path,
        "size": upkeep.size(ctx.store),
        "schema": SCHEMA,
        "rows": upkeep.counts(ctx.store),
        "problems": upkeep.problems(ctx.store, thorough=thorough),
    }


def vacuum(ctx: Context) -> dict[str, Any]:
    """Give unused room back; return the sizes before and after."""
    before, after = upkeep.vacuum(ctx.store)
    return {"before": before, "after": after}


def purge(ctx: Context, days: int) -> dict[str, Any]:
    """Delete events and ended operations that are older; return how many."""
    return dict(upkeep.purge(ctx.store, days_ago(days)))


def backup(ctx: Context, file: str) -> dict[str, Any]:
    """Copy the store to a new file; return which."""
    target = os.path.join(ctx.cwd, file)
    if not file:
        folder = os.path.join(paths.state_dir(), "backups")
        make_private_dir(folder)
        target = os.path.join(folder, f"woodwind-{now():%Y%m%d-%H%M%S-%f}.db")
    try:
        upkeep.backup(ctx.store, target)
    except FileExistsError:
        raise WoodwindError(f"{target} exists already, and was left alone", hint="Name another file.") from None
    except (OSError, sqlite3.OperationalError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise WoodwindError(f"the backup cannot be written to {target}: {why}") from error
    return {"file": target, "size": os.path.getsize(target)}
