"""Amp."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent


class Amp(Agent):
    """Amp's terminal agent. It chooses its models itself, so it takes none."""

    name = "amp"
    command = "amp"
    pass_env = ("AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE")
    paths = ("~/.amp/bin/amp", "~/.local/bin/amp", "~/.npm-global/bin/amp")
    install = "Install it: npm install -g @ampcode/cli"
    prompt = "paste"
    headless_args = ()
    headless_flag = "--execute"
    permissions: Mapping[str, Sequence[str]] = {"bypass": ()}  # it asks only where its own settings say so
    resume_args = ("threads", "continue", "--last")  # the last one in this checkout
