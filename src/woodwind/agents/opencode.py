"""opencode."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent, Start
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.choice import ModelChoice

# By itself it asks for next to nothing.
_PERMISSION = {"ask": '{"edit":"ask","bash":"ask"}', "auto": '{"edit":"allow","bash":"ask"}'}


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
    resume_args = ("--continue",)  # the last one in this folder (read): its ids are its own
    clear = "/new"
    interrupt = ("Escape", "Escape")

    def variables(self, start: Start) -> Mapping[str, str]:
        rules = "" if start.plan else _PERMISSION.get(start.permissions, "")
        return {**self.env, "OPENCODE_PERMISSION": rules} if rules else self.env

    def model_args(self, choice: ModelChoice) -> Sequence[str]:
        if not choice.provider:
            raise self.cannot(
                f"find the model {choice.model!r} without its provider", f"For example: anthropic/{choice.model}"
            )
        return super().model_args(choice)
