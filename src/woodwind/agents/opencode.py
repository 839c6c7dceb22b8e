"""opencode."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from woodwind.agents import choices, opencode_events
from woodwind.agents.base import Agent, Start
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.choice import ModelChoice
from woodwind.model.reading import Reading

# By itself it asks for next to nothing.
_PERMISSION = {"ask": '{"edit":"ask","bash":"ask"}', "auto": '{"edit":"allow","bash":"ask"}'}

_PERMISSION_MARK = "┃  △ Permission required"


class OpenCode(Agent):
    """The open agent for many providers."""

    name = "opencode"
    command = "opencode"
    pass_env = (*PROVIDER_KEYS, "OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR")
    paths = ("~/.opencode/bin/opencode", "~/.local/bin/opencode")
    install = "Install it: npm install -g opencode-ai"
    checked = "1.18.33"
    prompt = "flag"
    prompt_flag = "--prompt"
    headless_args = ("run",)
    plan_args = ("--agent", "plan")
    model_flag = "--model"
    permissions: Mapping[str, Sequence[str]] = {"ask": (), "auto": (), "bypass": ("--auto",)}
    resume_args = ("--session", "{session}")
    clear = "/new"
    interrupt = ("Escape", "Escape")
    # Only while the daemon listens: without it, the screen has to do, so nothing may wait for its word.
    streams = True
    # The first choice is chosen beforehand. "Allow always" asks once more, and holds only until it exits: not offered.
    answers: Mapping[str, Sequence[str]] = {"allow": ("Enter",), "deny": ("Escape",)}

    def variables(self, start: Start) -> Mapping[str, str]:
        rules = "" if start.plan else _PERMISSION.get(start.permissions, "")
        return {**self.env, "OPENCODE_PERMISSION": rules} if rules else self.env

    def model_args(self, choice: ModelChoice) -> Sequence[str]:
        if not choice.provider:
            raise self.cannot(
                f"find the model {choice.model!r} without its provider", f"For example: anthropic/{choice.model}"
            )
        return super().model_args(choice)

    def resume_words(self, start: Start) -> Sequence[str]:
        if self.resume_args == OpenCode.resume_args and not start.session.startswith("ses"):
            return ("--continue",)  # it has told no id yet: the last one in this folder
        return super().resume_words(start)

    def stream_url(self, start: Start) -> str:
        return "" if start.headless else f"http://127.0.0.1:{start.port}/event"

    def event_args(self, start: Start) -> Sequence[str]:
        return ("--port", str(start.port)) if start.port and not start.headless else ()

    def listener(self) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
        return opencode_events.Listener()

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        return opencode_events.reading_of(payload, at)

    def answer_keys(self, answer: str, screen: str) -> Sequence[str]:
        return self.answers.get(answer, ()) if _PERMISSION_MARK in screen else ()

    def words_keys(self, screen: str) -> Sequence[str] | None:
        own = [choice for choice in choices.choices(screen) if choice.label.startswith("Type your own answer")]
        return (own[0].number,) if own and _PERMISSION_MARK not in screen else None
