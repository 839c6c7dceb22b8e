"""Kiro."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent


class Kiro(Agent):
    """The terminal agent of AWS."""

    name = "kiro"
    command = "kiro-cli"
    pass_env = ("KIRO_API_KEY", "AWS_PROFILE", "AWS_REGION")
    paths = ("~/.local/bin/kiro-cli",)
    install = "Install it as its documentation says: https://kiro.dev/docs/cli"
    terminal_args = ("chat",)
    headless_args = ("chat", "--no-interactive")
    model_flag = "--model"
    providers = ("kiro",)
    # Between the two it trusts tools by names, which differ between its versions.
    permissions: Mapping[str, Sequence[str]] = {"ask": (), "bypass": ("--trust-all-tools",)}
    resume_args = ("--resume",)  # the last one in this folder: its ids are its own
    exit = "/quit"
    interrupt = ("C-c",)
