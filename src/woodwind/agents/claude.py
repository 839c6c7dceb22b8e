"""Claude Code."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents import choices, hook_payloads, settings_files
from woodwind.agents.base import Agent, Start
from woodwind.model.reading import Reading, Tells
from woodwind.model.status import Status

SETTINGS = "claude.json"
_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "SessionEnd",
)
# What it gives itself as a prompt when a task in its background has ended.
_NEWS = re.compile(r"<task-notification>(?:.*?<summary>(?P<summary>.*?)</summary>)?", re.DOTALL)


class Claude(Agent):
    """Anthropic's terminal agent."""

    name = "claude"
    command = "claude"
    pass_env: Sequence[str] = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    )
    paths = ("~/.claude/local/claude", "~/.local/bin/claude")
    install = "Install it: npm install -g @anthropic-ai/claude-code"
    checked = "2.1.325"
    headless_args = ("-p",)
    plan_args = ("--permission-mode", "plan")
    untrusted_args = ("--strict-mcp-config", "--setting-sources", "user")
    model_flag = "--model"
    providers: Sequence[str] = ("anthropic",)
    thinking: Mapping[str, Sequence[str]] = {
        level: ("--effort", level) for level in ("low", "medium", "high", "xhigh", "max")
    }
    permissions: Mapping[str, Sequence[str]] = {
        "ask": ("--permission-mode", "default"),  # its help says "manual" by now; older versions know only this
        "auto": ("--permission-mode", "acceptEdits"),
        "bypass": ("--permission-mode", "bypassPermissions"),
    }
    session_args = ("--session-id", "{session}")
    resume_args: Sequence[str] | None = ("--resume", "{session}")
    tells_submits = True
    tells_ends = True
    queues = True
    answers: Mapping[str, Sequence[str]] = {"allow": ("1",), "deny": ("Escape",)}

    def event_files(self, start: Start) -> Mapping[str, str]:
        """Its settings for this run, which come on top of the user's own, those that `args` give included."""
        given = settings_files.load(self.name, settings_files.split(self.args)[1], start.repository)
        settings = settings_files.with_hooks(given, _EVENTS, start.hook)
        if start.permissions == "bypass":  # chosen already: the warning would only hold it up
            settings["skipDangerousModePermissionPrompt"] = True
        if start.allowed:
            settings = settings_files.with_allowed(settings, start.allowed)
        return {SETTINGS: json.dumps(settings, ensure_ascii=False, indent=1)}

    def own_args(self, start: Start) -> Sequence[str]:
        # It takes one --settings only: what the user's says is in ours.
        return settings_files.split(self.args)[0] if start.hook else self.args

    def event_args(self, start: Start) -> Sequence[str]:
        return ("--settings", os.path.join(start.run_dir, SETTINGS))

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        told = payload.get("hook_event_name"), payload.get("notification_type")
        if told == ("Notification", "idle_prompt"):
            return Reading(Tells.IDLE, at, "hook", session=str(payload.get("session_id") or ""))
        reading = hook_payloads.reading_of(payload, at)
        if reading and told[0] == "UserPromptSubmit" and (news := _NEWS.match(reading.text)):
            return reading._replace(tells=Tells.CONTINUED, text=news["summary"] or "")
        if reading and told[0] == "Stop" and _has_agents_at_work(payload):
            return reading._replace(tells=Tells.WAITS, text="")
        if reading and reading.tells is Tells.DONE and not reading.text:
            # A connection that broke may end like this, with nothing said.
            return reading._replace(tells=Tells.FAILED, text="it ended without an answer")
        return reading

    def answer_keys(self, answer: str, screen: str) -> Sequence[str]:
        keys = choices.keys_for(answer, screen)
        # The number of "No" only opens a line for what to do instead.
        return self.answers["deny"] if keys and answer == "deny" else keys

    def words_keys(self, screen: str) -> Sequence[str] | None:
        own = [choice for choice in choices.choices(screen) if choice.label.startswith("Type something")]
        return (own[0].number,) if own else None

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        # "✳" stands for idle and for a question alike, so it proves nothing.
        return (Status.WORKING, "its title says so") if title[:1] in ("◐", "◑") else None


def _has_agents_at_work(payload: Mapping[str, Any]) -> bool:
    """Whether agents that it started itself go on after its last words; it will be told of their end, and go on too.

    A program that it left running, such as a server, is no work of its own.
    """
    tasks = payload.get("background_tasks")
    found = [task for task in tasks if isinstance(task, Mapping)] if isinstance(tasks, list) else []
    return any(task.get("type") == "subagent" and task.get("status") == "running" for task in found)
