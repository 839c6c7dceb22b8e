"""The preparer: one process per new worker, there only while its environment is prepared.

Run as `python -m woodwind.daemon.preparer WORKER`, as the leader of a process group of its own. A worker that
waited for it is started at the end.
"""

import os
import sys

from woodwind.daemon.client import ensure_daemon
from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.prepare import prepare
from woodwind.ops.queue import start_waiting
from woodwind.store import workers


def main(worker: str) -> None:
    """Prepare the worker, then start whoever waited for that."""
    prepare(os.environ, worker)
    ctx = Context("/", os.environ)
    try:
        if any(waiting.id == worker for waiting in workers.queued(ctx.store)):
            start_waiting(ctx)
            if workers.queued(ctx.store):
                ensure_daemon(os.environ)
    except WoodwindError as error:
        sys.stderr.write(f"ww: {error.message}\n")
    finally:
        ctx.close()


if __name__ == "__main__":
    main(sys.argv[1])
