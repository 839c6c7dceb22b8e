"""One call: parse, run the command's op, render its outcome."""

import os
import signal
import sys

from woodwind.cli.defaults import configured
from woodwind.cli.plain import NotPlain, parse_plainly
from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, EXIT_USAGE, WoodwindError
from woodwind.model.text import clean
from woodwind.model.typed import Any
from woodwind.ops.context import Context, person_at_terminal

ENVELOPE_VERSION = 1


def call(name: str, command: Any, argv: list[str], as_json: bool) -> int:
    """Run a command and return its exit code; errors are the caller's to render."""
    try:
        args = _arguments(name, command, argv)
    except SystemExit as leave:  # --help has printed itself
        return int(leave.code or 0)
    args.json = as_json  # by flag, variable or configuration
    screen = Screen("never" if as_json else os.environ.get("WOODWIND_OUTPUT_COLOR") or configured("color", "auto"))
    ctx = _context(screen, as_json)
    for deadly in (signal.SIGTERM, signal.SIGHUP):  # so that what was begun is undone, as at Ctrl-C
        signal.signal(deadly, _leave)
    try:
        outcome = command.run(ctx, args)
        screen.end_progress()
        if as_json:
            print_envelope(outcome.data, None if name == "exec" else _not_well(outcome.exit_code))
        else:
            command.render(outcome, screen)
        for note in outcome.notes:
            screen.note(note)
        return int(outcome.exit_code)
    except BaseException:
        screen.end_progress()
        for note in ctx.notes:
            screen.note(note)
        raise
    finally:
        ctx.close()


def _arguments(name: str, command: Any, argv: list[str]) -> Any:
    """The command's arguments by name; a SystemExit after --help."""
    try:
        return parse_plainly(command, argv)
    except NotPlain:
        from woodwind.cli.parsing import build  # argparse: 5 ms with what it imports

        return build(name, command).parse(argv)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _context(screen: Screen, as_json: bool) -> Context:
    person = not as_json and person_at_terminal(os.environ)
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise WoodwindError("the current folder does not exist any more", hint="Go to another one: cd") from None
    return Context(
        cwd,
        os.environ,
        person=person,
        say=screen.say,
        confirm=_confirm if person else None,
        pick=_pick if person else None,
        show=screen.stream if not as_json else lambda _: None,
    )


def _confirm(question: str) -> bool:
    sys.stdout.flush()
    return _answer(clean(f"{question} [y/N] ")).lower() in ("y", "yes")


def _not_well(exit_code: int) -> WoodwindError | None:
    """What is said of data that tells of something wrong; None where all is well."""
    if exit_code == EXIT_DONE:
        return None
    if exit_code == EXIT_PARTLY:
        return WoodwindError("part of it was done", code="partly_done", hint="See `data` for what was not.")
    code = "plan" if exit_code == EXIT_USAGE else "problems"
    return WoodwindError("there are problems", code=code, hint="See `data` for each of them.")


def _answer(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError:  # Ctrl-D, or the terminal went away: no answer, as at Ctrl-C
        sys.stdout.write("\n")
        raise KeyboardInterrupt from None


def _pick(question: str, options: list[str]) -> int:
    for n, option in enumerate(options, 1):
        sys.stdout.write(f"  {n}. {option}\n")
    while True:
        answer = _answer(f"{question} [1-{len(options)}] ")
        if answer.isdecimal() and 1 <= int(answer) <= len(options):
            return int(answer) - 1
        if answer in options:
            return options.index(answer)


def print_envelope(data: Any, error: WoodwindError | None) -> None:
    """The one form that all JSON output has."""
    import json  # 2 ms, which a command for people need not pay

    envelope = {
        "version": ENVELOPE_VERSION,
        "ok": error is None,
        "data": data,
        "error": None if error is None else {"code": error.code, "message": error.message, "hint": error.hint},
    }
    text = json.dumps(envelope, ensure_ascii=False, indent=None if not sys.stdout.isatty() else 2)
    # A file name may hold bytes that are no text; as \\ufffd they cannot break a reader.
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")
