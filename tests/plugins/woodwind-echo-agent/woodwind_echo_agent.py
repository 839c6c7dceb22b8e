"""An agent that says what it was told, and then echoes what is typed."""

from woodwind.agents.base import Agent


class Echo(Agent):
    """Needs nothing but a shell."""

    command = "sh"
    args = ("-c", 'echo "echo was told: $1"; exec cat', "sh")
    headless_args = ()
    interrupt = ("C-c",)
