"""Remarks and errors on standard error: as text, or as one JSON object a line with `--log-format json`."""

import os
import sys

from woodwind.model.text import clean

VARIABLE = "WOODWIND_LOG_FORMAT"


def report(level: str, message: str, *, hint: str = "", code: str = "") -> None:
    """Tell a person or a log what happened; `level` is note or error."""
    sys.stdout.flush()
    if os.environ.get(VARIABLE) != "json":
        sys.stderr.write(clean(f"ww: {message}\n"))
        if hint:
            sys.stderr.write(clean(f"    {hint}\n"))
        return
    import json  # 9 ms, and most calls print nothing here

    from woodwind.base.clock import now

    entry = {"time": now().isoformat(), "level": level, "message": message, "process": os.getpid()}
    entry |= {name: value for name, value in (("hint", hint), ("code", code)) if value}
    sys.stderr.write(json.dumps(entry) + "\n")
