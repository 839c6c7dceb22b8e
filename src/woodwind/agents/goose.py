"""goose."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent, Start
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.choice import ModelChoice

_MODES = {"ask": "approve", "auto": "smart_approve", "bypass": "auto"}


class Goose(Agent):
    """The open agent of the Agentic AI Foundation."""

    name = "goose"
    command = "goose"
    pass_env = (*PROVIDER_KEYS, "GOOSE_PROVIDER", "GOOSE_MODEL", "GOOSE_DISABLE_KEYRING", "GOOSE_PATH_ROOT")
    paths = ("~/.local/bin/goose",)
    install = "Install it as its documentation says: https://github.com/aaif-goose/goose"
    prompt = "flag"
    prompt_flag = "--text"
    terminal_args = ("run", "--interactive")
    headless_args = ("run",)
    headless_flag = "--text"
    model_flag = "--model"
    provider_flag = "--provider"
    permissions: Mapping[str, Sequence[str]] = {"ask": (), "auto": (), "bypass": ()}  # in a variable, GOOSE_MODE
    session_args = ("--name", "{session}")
    resume_args = ("--resume", "--name", "{session}")
    interrupt = ("C-c",)

    def variables(self, start: Start) -> Mapping[str, str]:
        mode = _MODES.get(start.permissions)
        return {**self.env, "GOOSE_MODE": mode} if mode else self.env

    def argv(self, start: Start) -> list[str]:
        # Without a prompt it is `goose session`, which knows no model: a conversation keeps its own.
        return super().argv(start if start.prompt else start._replace(model=ModelChoice()))

    def first_words(self, start: Start) -> Sequence[str]:
        return super().first_words(start) if start.prompt else ("session",)
