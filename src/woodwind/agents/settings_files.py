"""Settings in the form that Claude Code began and others took over: our hooks, on top of a file that the user gave.

Such a program takes one `--settings` only, the last. So one that the user's own `args` have is read, our hooks are
added to what it says, and the whole is written into the run folder; their file stays as it is.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.model.errors import ConfigError

FLAG = "--settings"


def split(args: Sequence[str]) -> tuple[list[str], str]:
    """The arguments without `--settings`, and what the last one gave: a file or JSON; "" where there is none."""
    rest: list[str] = []
    given = ""
    words = iter(args)
    for word in words:
        if word == FLAG:
            given = next(words, "")
        elif word.startswith(f"{FLAG}="):
            given = word.partition("=")[2]
        else:
            rest.append(word)
    return rest, given


def load(agent: str, given: str, folder: str) -> dict[str, Any]:
    """What the user's own settings say, from JSON or from a file, whose path may begin at `folder`."""
    if not given:
        return {}
    try:
        if given.lstrip().startswith("{"):
            found = json.loads(given)
        else:
            with open(os.path.join(folder, os.path.expanduser(given)), encoding="utf-8") as file:
                found = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise _cannot(agent, given, str(error)) from error
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise _cannot(agent, given, "it is not an object of settings")
    return found


def with_hooks(settings: Mapping[str, Any], events: Sequence[str], command: str) -> dict[str, Any]:
    """Settings that also run a command at each of these events, after what they run already."""
    handler = {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
    hooks: dict[str, Any] = dict(settings.get("hooks", {}))
    for event in events:
        theirs = hooks.get(event)
        hooks[event] = [*(theirs if isinstance(theirs, list) else ()), handler]
    return {**settings, "hooks": hooks}


def with_allowed(settings: Mapping[str, Any], tools: Sequence[str]) -> dict[str, Any]:
    """Settings that also let these tools be used without asking."""
    rules = settings.get("permissions")
    rules = rules if isinstance(rules, dict) else {}
    theirs = rules.get("allow")
    allow = list(dict.fromkeys([*(theirs if isinstance(theirs, list) else ()), *tools]))
    return {**settings, "permissions": {**rules, "allow": allow}}


def _cannot(agent: str, given: str, why: str) -> ConfigError:
    return ConfigError(
        f"the {FLAG} in `args` of [agents.{agent}] cannot be read: {given[:200]}: {why}",
        hint="Woodwind adds its hooks to a copy of it. Give a file with a JSON object, by its whole path, or JSON.",
    )
