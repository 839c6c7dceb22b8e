"""The command line of the rehearsal agent. Read by hand: argparse would double the program's own start-up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

USAGE = """usage: rehearsal [options] [PROMPT]

  --session-id ID   use this id for the session
  --resume ID       go on with that session
  --model NAME      the model to name in the banner
  --plan            plan mode: refuse every editing action
  --hook COMMAND    run this for each event, besides $REHEARSAL_HOOK
  --allow VERB      with --ask-edits: do not ask about this action
  --ask-edits       ask for permission before each editing action
  -p, --print       no terminal: do the prompt's turn, print, and exit
  --version         print the version and exit
  --help            print this and exit"""


class UsageError(Exception):
    """A command line that cannot be understood; the message says why."""


class Options:
    """What the command line asked for."""

    def __init__(self) -> None:
        self.prompt = ""
        self.session_id = ""
        self.resume = False
        self.model = ""
        self.plan = False
        self.ask_edits = False
        self.hook = ""
        self.allow: list[str] = []
        self.print = False
        # A text to print instead of starting: the version or the usage.
        self.info = ""


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line; UsageError where it is wrong."""
    options = Options()
    words = iter(argv)
    prompts: list[str] = []
    for word in words:
        if word == "--":
            prompts.extend(words)
        elif word.startswith("-") and word != "-":
            _take(options, word, words)
        else:
            prompts.append(word)
    if len(prompts) > 1:
        raise UsageError(f"one prompt at most, but got {len(prompts)}: quote it")
    options.prompt = prompts[0] if prompts else ""
    return options


def _take(options: Options, word: str, words: Iterator[str]) -> None:
    name, equals, value = word.partition("=")
    if name in ("--session-id", "--resume", "--model", "--hook", "--allow"):
        if not equals:
            value = next(words, "")
        if not value:
            raise UsageError(f"{name} needs a value")
        if name == "--model":
            options.model = value
        elif name == "--hook":
            options.hook = value
        elif name == "--allow":
            options.allow.append(value)
        else:
            options.session_id, options.resume = value, name == "--resume"
    elif word == "--plan":
        options.plan = True
    elif word == "--ask-edits":
        options.ask_edits = True
    elif word in ("-p", "--print"):
        options.print = True
    elif word == "--version":
        options.info = "rehearsal 1.0"
    elif word in ("-h", "--help"):
        options.info = USAGE
    else:
        raise UsageError(f"unknown option {word}")
