"""Droid."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents import hook_payloads, settings_files
from woodwind.agents.base import Agent, Start
from woodwind.model.reading import Reading

SETTINGS = "droid.json"
_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "SessionEnd",
)


class Droid(Agent):
    """Factory's terminal agent. Only `droid exec` was checked: its terminal needs a login at the vendor."""

    name = "droid"
    command = "droid"
    pass_env = ("FACTORY_API_KEY",)
    paths = ("~/.local/bin/droid", "~/.npm-global/bin/droid")
    install = "Install it: npm install -g droid"
    checked = "0.215.0"
    headless_args = ("exec",)
    plan_args = ("--use-spec",)
    model_flag = "--model"
    model_in_terminal = False
    thinking: Mapping[str, Sequence[str]] = {
        level: ("--reasoning-effort", level.replace("none", "off"))
        for level in ("off", "none", "low", "medium", "high", "xhigh", "max")
    }
    # Medium is the lowest level that may commit, high the highest that it has in a terminal.
    permissions: Mapping[str, Sequence[str]] = {"ask": (), "auto": ("--auto", "medium"), "bypass": ("--auto", "high")}
    resume_args = ("--resume", "--last")  # the last one in this folder: its ids are its own
    clear = "/new"
    exit = "/quit"
    # Its hooks were seen with `droid exec`, which tells of no prompts, and of no last words at a turn's end.
    # Its terminal has the same flag; what it tells there was not seen, so nothing may wait for it.

    def permission_args(self, start: Start) -> Sequence[str]:
        words = super().permission_args(start)
        if start.headless and words == Droid.permissions["bypass"]:
            return ("--skip-permissions-unsafe",)
        return words

    def resume_words(self, start: Start) -> Sequence[str]:
        if start.headless and self.resume_args == Droid.resume_args:
            raise self.cannot("go on with an earlier conversation without a terminal", "Leave --headless out.")
        return super().resume_words(start)

    def own_args(self, start: Start) -> Sequence[str]:
        return settings_files.split(self.args)[0] if start.hook else self.args

    def event_files(self, start: Start) -> Mapping[str, str]:
        given = settings_files.load(self.name, settings_files.split(self.args)[1], start.repository)
        settings = settings_files.with_hooks(given, _EVENTS, start.hook)
        return {SETTINGS: json.dumps(settings, ensure_ascii=False, indent=1)}

    def event_args(self, start: Start) -> Sequence[str]:
        return (settings_files.FLAG, os.path.join(start.run_dir, SETTINGS))

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        return hook_payloads.reading_of(payload, at)
