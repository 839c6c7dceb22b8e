"""Starts the rehearsal agent: `python -m woodwind.testing.rehearsal [options] [PROMPT]`."""

from __future__ import annotations

import os
import sys

from woodwind.testing.rehearsal import options as command_line
from woodwind.testing.rehearsal.agent import Agent
from woodwind.testing.rehearsal.history import History, HistoryError, new_id
from woodwind.testing.rehearsal.terminal import Plain, Terminal


def main(argv: list[str]) -> int:
    """The exit status of one run of the agent."""
    try:
        options = command_line.parse(argv)
    except command_line.UsageError as error:
        print(f"rehearsal: {error}\n{command_line.USAGE}", file=sys.stderr)
        return 2
    if options.info:
        print(options.info)
        return 0
    headless = options.print or not (os.isatty(0) and os.isatty(1))
    if headless and not options.prompt and not os.isatty(0):
        options.prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    # What is not UTF-8 in an argument must not break the output or the hooks' JSON.
    options.prompt = os.fsencode(options.prompt).decode("utf-8", "replace")
    if headless and not options.prompt.strip():
        print("rehearsal: a prompt is needed where there is no terminal", file=sys.stderr)
        return 2
    try:
        history = History(options.session_id or new_id(), resume=options.resume)
    except HistoryError as error:
        print(f"rehearsal: {error}", file=sys.stderr)
        return 1
    screen = Plain() if headless else Terminal()
    try:
        return Agent(screen, options, history).run()
    finally:
        screen.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
