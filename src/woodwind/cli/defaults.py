"""What is configured about output, without the cost of the configuration where nobody set it."""

import os

from woodwind.base import paths
from woodwind.model.errors import WoodwindError


def configured(key: str, default: str) -> str:
    """A key of [output] as configured; its default where the files do not even mention it."""
    if not any(_mentions(path, key.encode()) for path in _candidates()):
        return default
    # tomllib and the schema cost 10 ms: only for those who set the key.
    from woodwind.ops.context import Context

    try:
        return str(getattr(Context(os.getcwd(), os.environ).loaded_config.config.output, key))
    except (WoodwindError, OSError):
        return default  # the command itself reports what is wrong with the configuration


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


def _mentions(path: str, key: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return any(key in line and not line.lstrip().startswith(b"#") for line in file)
    except OSError:
        return False
