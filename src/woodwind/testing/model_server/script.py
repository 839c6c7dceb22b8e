"""The script language: `model: VERB …` lines in the newest instructions say what the model does, step by step.

    run COMMAND             use the agent's shell
    escalate COMMAND        the same, and ask to leave its sandbox where the agent knows that
    write PATH TEXT         use the agent's tool for writing files, or the shell where it has none
    ask QUESTION | A | B    use the agent's tool for asking its user
    delegate STEP           use the agent's tool that starts an agent of its own, whose script is this step
    say TEXT                answer, which ends the turn
    stream SECONDS TEXT     the same, slowly
    recall                  answer how many scripts the conversation holds: "I recall 2 scripts."
    fail STATUS             an HTTP error, each time
    drop                    break the connection in the middle of the answer, each time

Each tool result moves the script one step on. Instructions that only name the brief make the model read it first,
as a real one would, and the script is found in there. Pure: nothing here reads or changes anything.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from woodwind.testing.model_server.conversation import Conversation, Kind, Tool
from woodwind.testing.model_server.replies import Call, Drop, Failure, Reply, Text
from woodwind.testing.model_server.tools import (
    ASKING,
    DELEGATES,
    SHELLS,
    WRITERS,
    arguments,
    delegation,
    question,
    sample,
)

_LINE = re.compile(r"^[\s>*+-]*model: *(\w+) ?(.*?)\s*$", re.MULTILINE)
_BRIEF = re.compile(r"\.woodwind/[\w-]+\.md")
ASIDE = "A short aside."
NOBODY = "I have nobody to do it."


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a script."""

    verb: str
    rest: str = ""


class ScriptError(Exception):
    """A line that cannot be understood; the message says which and why."""


def steps_in(text: str) -> list[Step]:
    """The script in a text, which is empty where it has no `model:` line."""
    return [Step(verb, rest) for verb, rest in _LINE.findall(text)]


def reply_to(talk: Conversation) -> Reply:
    """What the model answers to this request."""
    if talk.schema is not None:
        return Text(json.dumps(sample(talk.schema)))
    at, script = _newest_script(talk)
    if not script:
        return _read_the_brief(talk)
    done = sum(said.kind is Kind.RESULT for said in talk.said[at + 1 :])
    step = script[done] if done < len(script) else Step("say", "That is all.")
    return _play(step, talk)


def _newest_script(talk: Conversation) -> tuple[int, list[Step]]:
    # A tool's output counts only where the brief was read: other output may quote anything.
    found: tuple[int, list[Step]] = (0, [])
    reading = False
    for at, said in enumerate(talk.said):
        if said.kind is Kind.USER:
            script = steps_in(said.text)
            # Agents add remarks of their own as the user's, which change nothing.
            if script or _BRIEF.search(said.text):
                found, reading = (at, script), not script
        elif said.kind is Kind.RESULT and reading and (script := steps_in(said.text)):
            found, reading = (at, script), False
    return found


def _read_the_brief(talk: Conversation) -> Reply:
    brief = next(
        (m[0] for said in reversed(talk.said) if said.kind is Kind.USER for m in _BRIEF.finditer(said.text)), ""
    )
    shell = _offered(talk, SHELLS)
    if not brief or shell is None or talk.said[-1].kind is Kind.RESULT:
        return Text(ASIDE)
    return Call(shell.name, arguments(shell, command=f"cat {brief}"))


def _play(step: Step, talk: Conversation) -> Reply:
    match step.verb:
        case "run" | "escalate":
            return _run(step.rest, talk, escalate=step.verb == "escalate")
        case "write":
            return _write(step.rest, talk)
        case "ask":
            return _ask(step.rest, talk)
        case "delegate":
            return _delegate(step.rest, talk)
        case "say":
            return Text(step.rest or "Done.")
        case "stream":
            seconds, _, text = step.rest.partition(" ")
            return Text(text or "Slow words.", _number(step, seconds))
        case "recall":
            count = sum(said.kind is not Kind.MODEL and bool(steps_in(said.text)) for said in talk.said)
            return Text(f"I recall {count} scripts.")
        case "fail":
            return Failure(int(_number(step, step.rest or "500")))
        case "drop":
            return Drop()
    raise ScriptError(f"the model knows no verb {step.verb!r}")


def _run(command: str, talk: Conversation, *, escalate: bool = False) -> Reply:
    shell = _offered(talk, SHELLS)
    if shell is None:
        return Text(ASIDE)
    filled = arguments(shell, command=command)
    if escalate and "sandbox_permissions" in shell.schema.get("properties", {}):
        filled |= {"sandbox_permissions": "require_escalated", "justification": "the script says so"}
    return Call(shell.name, filled)


def _write(rest: str, talk: Conversation) -> Reply:
    path, _, text = rest.partition(" ")
    writer = _offered(talk, WRITERS)
    if writer is not None:
        return Call(writer.name, arguments(writer, path=path, content=f"{text}\n"))
    patch = talk.tools.get("apply_patch")
    if patch is not None and patch.custom:
        return Call(patch.name, input=f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch")
    return _run(f"printf '%s\\n' {shlex.quote(text)} > {shlex.quote(path)}", talk)


def _ask(rest: str, talk: Conversation) -> Reply:
    words, *choices = (part.strip() for part in rest.split("|"))
    tool = _offered(talk, ASKING)
    return (
        Text(f"I cannot ask: {words}") if tool is None else Call(tool.name, question(words, choices or ["Yes", "No"]))
    )


def _delegate(rest: str, talk: Conversation) -> Reply:
    tool = _offered(talk, tuple(DELEGATES))
    return Text(NOBODY) if tool is None else Call(tool.name, delegation(tool, f"model: {rest}"))


def _offered(talk: Conversation, names: tuple[str, ...]) -> Tool | None:
    tools: Mapping[str, Tool] = talk.tools
    return next((tools[name] for name in names if name in tools), None)


def _number(step: Step, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ScriptError(f"`model: {step.verb}` wants a number, not {text!r}") from None
