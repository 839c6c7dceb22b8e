"""The entry: find the command, build only its parser, call it, and render what it gives or why it failed."""

import gc
import os
import sys
from importlib import import_module

from woodwind import __version__
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.model.errors import EXIT_FAILED, EXIT_INTERRUPTED, UsageError, WoodwindError


def entry() -> None:
    """What the program `ww` runs."""
    gc.set_threshold(100_000)  # what a command makes while it starts stays: looking for garbage in it costs 3 ms
    for fd in (0, 1, 2):  # a closed standard stream would hand its number to the next file that is opened
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin, sys.stdout, sys.stderr = (
        stream or open(fd, "r" if fd == 0 else "w", closefd=False)  # noqa: SIM115 - they live as long as we do
        for fd, stream in enumerate((sys.stdin, sys.stdout, sys.stderr))
    )
    # A file name that is no text goes out as the bytes that it is.
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # All is written and closed. What the interpreter would do now, taking every module apart, costs 6 ms.
    os._exit(code)


def main(argv: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read us has gone: no second complaint at exit
        return EXIT_FAILED


def _run(argv: list[str]) -> int:
    as_json = False
    while argv and argv[0].startswith("-"):
        if argv[0] in ("--version", "-V"):
            sys.stdout.write(f"woodwind {__version__}\n")
            return 0
        if argv[0] in ("--help", "-h"):
            argv = ["help", *argv[1:]]
            break
        if argv[0] == "--json":
            as_json, argv = True, argv[1:]
        elif argv[0] == "--log-format" and argv[1:2] in (["text"], ["json"]):
            os.environ["WOODWIND_LOG_FORMAT"] = argv[1]
            argv = argv[2:]
        elif argv[0] == "-C" and len(argv) > 1:
            try:
                os.chdir(argv[1])
            except OSError as error:
                return _fail(UsageError(f"cannot go to the folder {argv[1]}: {error.strerror}"), as_json)
            argv = argv[2:]
        elif argv[0] in ("--all", "-a", "--theme") or argv[0].startswith("--theme="):
            argv = ["control", *argv]
            break
        else:
            return _fail(UsageError(f"unknown option {argv[0]}", hint="`ww help` lists the commands."), as_json)
    if argv and argv[0].startswith("__"):
        from woodwind.cli.hidden import WORDS

        if argv[0] in WORDS:
            return WORDS[argv[0]](argv[1:])
    if not argv:  # a script that says nothing gets the list of what it could say
        argv = ["control" if os.isatty(0) and os.isatty(1) else "help"]
    name = ALIASES.get(argv[0], argv[0])
    options = argv[: argv.index("--")] if "--" in argv else argv
    as_json = as_json or "--json" in options or _json_by_default()
    if name not in COMMANDS:
        return _fail(_unknown(name), as_json)
    return _call(name, argv[1:], as_json)


def _call(name: str, argv: list[str], as_json: bool) -> int:
    command = import_module(COMMANDS[name].module)
    from woodwind.cli.calling import call  # the part that most commands share, kept out of --version

    try:
        return call(name, command, argv, as_json)
    except WoodwindError as error:
        return _fail(error, as_json)
    except KeyboardInterrupt:
        return _fail(_interrupted(), as_json)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug: the user gets one line, the log gets the rest
        from woodwind.ops.crash import explain

        return _fail(explain(error), as_json)


def _json_by_default() -> bool:
    wanted = os.environ.get("WOODWIND_FORMAT", "")
    if wanted:
        return wanted == "json"
    from woodwind.cli.defaults import configured

    return configured("format", "human") == "json"


def _fail(error: WoodwindError, as_json: bool) -> int:
    if as_json:
        from woodwind.cli.calling import print_envelope

        print_envelope(None, error)
    else:
        from woodwind.cli.report import report  # unicodedata is not for --version to load

        report("error", error.message, hint=error.hint, code=error.code)
    return error.exit_code


def _interrupted() -> WoodwindError:
    error = WoodwindError("interrupted", code="interrupted")
    error.exit_code = EXIT_INTERRUPTED
    return error


def _unknown(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, [*COMMANDS, *ALIASES], 1, 0.6)
    return UsageError(
        f"unknown command {name!r}", hint=f"Did you mean `ww {near[0]}`?" if near else "`ww help` lists the commands."
    )
