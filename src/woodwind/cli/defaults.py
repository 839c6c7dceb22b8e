"""The configured output format, without the cost of the configuration where nobody set it."""

import os

from woodwind.base import paths
from woodwind.model.errors import WoodwindError


def configured_format() -> str:
    """`output.format` as configured; "human" where the files do not even mention it."""
    if not any(_mentions_format(path) for path in _candidates()):
        return "human"
    # tomllib and dataclasses cost 20 ms: only for those who set the key.
    from woodwind.ops.context import Context

    try:
        return Context(os.getcwd(), os.environ).loaded_config.config.output.format
    except (WoodwindError, OSError):
        return "human"  # the command itself reports what is wrong with the configuration


def _candidates() -> list[str]:
    found = [paths.config_file()]
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return found
    while True:
        found.append(os.path.join(here, "woodwind.toml"))
        parent = os.path.dirname(here)
        if parent == here:
            return found
        here = parent


def _mentions_format(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return any(line.lstrip().startswith(b"format") for line in file)
    except OSError:
        return False
