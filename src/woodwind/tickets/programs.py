"""How a tracker's own program is called: without a shell, in the checkout, with a limit on its time."""

import json
from collections.abc import Sequence
from typing import Any

from woodwind.base.run import Done, find_program, run
from woodwind.model.errors import TimedOut
from woodwind.model.text import clean
from woodwind.tickets.base import NoTracker, Source, TicketError


def call(source: Source, argv: Sequence[str], *, install: str, input: str = "") -> Done:
    """How the program ended, whatever its exit status; NoTracker when it is not there, TimedOut when it hangs."""
    environ = source.child_environ
    program = find_program(argv[0], environ["PATH"])
    if not program:
        raise NoTracker(f"{argv[0]} is not installed, and tickets of {source.name} are read with it", hint=install)
    try:
        return run(
            [program, *argv[1:]],
            cwd=source.folder,
            env=environ,
            input=input.encode("utf-8", "replace"),
            timeout=source.timeout,
            ok=None,
        )
    except TimedOut:
        raise TimedOut(
            f"{' '.join(argv[:3])} did not answer within {source.timeout:g} seconds",
            hint="Is the network there? [tickets] timeout gives it more time.",
        ) from None


def complaint(done: Done) -> str:
    """What the program said, on whichever channel, in at most a few lines."""
    text = clean(done.complaint or done.stdout[-2000:].decode("utf-8", "replace")).strip()
    return " ".join(text.split())[:400] or f"exit status {done.code}, and not a word"


def decoded(source: Source, done: Done) -> Any:
    """The JSON that the program printed; TicketError when it is none."""
    try:
        return json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        raise TicketError(
            f"{source.name} answered with something that is not JSON: {complaint(done)}",
            hint="Is its program the one that is meant, and up to date?",
        ) from error
