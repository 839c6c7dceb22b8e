"""aider."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents.base import Agent, Start
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.brief import FILE
from woodwind.model.reading import Reading, Tells

_COMMAND = "--notifications-command"
_EVENT = {"event": "waiting"}


class Aider(Agent):
    """The pair programmer that commits each of its edits itself."""

    name = "aider"
    command = "aider"
    # Each of the first would otherwise open with a question, which would swallow the first instructions. And it reads
    # no file by itself, nor one that git ignores when it is asked to: the brief has to be given (read).
    args: Sequence[str] = (
        "--no-check-update",
        "--no-analytics",
        "--no-gitignore",
        "--no-show-release-notes",
        "--read",
        FILE,
    )
    pass_env = (
        *PROVIDER_KEYS,
        "AIDER_MODEL",
        "AZURE_API_BASE",
        "AZURE_API_KEY",
        "AZURE_API_VERSION",
        "OLLAMA_API_BASE",
    )
    paths = ("~/.local/bin/aider",)
    install = "Install it: pipx install aider-chat"
    checked = "0.86.2"
    prompt = "paste"
    headless_args = ()
    headless_flag = "--message"
    plan_args = ("--chat-mode", "ask")
    model_flag = "--model"
    thinking: Mapping[str, Sequence[str]] = {
        level: ("--reasoning-effort", level)
        for level in ("minimal", "low", "medium", "high")  # read
    }
    # It edits without asking in any case. --yes-always answers all questions but those about commands, with no.
    permissions: Mapping[str, Sequence[str]] = {"ask": (), "auto": ("--yes-always",)}
    resume_args = ("--restore-chat-history",)  # of this folder (read)
    interrupt = ("C-c",)
    answers: Mapping[str, Sequence[str]] = {"allow": ("y", "Enter"), "deny": ("n", "Enter")}

    def event_args(self, start: Start) -> Sequence[str]:
        # It takes one such command only, and the user's own goes first.
        if any(word.partition("=")[0] == _COMMAND for word in self.args):
            return ()
        return ("--notifications", _COMMAND, f"echo '{json.dumps(_EVENT)}' | {start.hook}")

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        # The same word for an answer, an error and a question: only that it waits for a person.
        return Reading(Tells.IDLE, at, "hook") if payload == _EVENT else None
