"""Where agents keep what they are logged in with: a variable or a file that is there is a sign, and never read."""

import os
from collections.abc import Mapping
from typing import NamedTuple


class _Signs(NamedTuple):
    """Variables, and one file: below the folder that `moved` names, otherwise below `folder` in the home folder."""

    variables: tuple[str, ...]
    moved: str
    folder: str
    file: str


# An agent that is not here tells nothing about its login.
_SIGNS = {
    "claude": _Signs(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"),
        "CLAUDE_CONFIG_DIR", ".claude", ".credentials.json",
    ),
    "codex": _Signs(("OPENAI_API_KEY", "CODEX_API_KEY"), "CODEX_HOME", ".codex", "auth.json"),
    "gemini": _Signs(("GEMINI_API_KEY", "GOOGLE_API_KEY"), "", ".gemini", "oauth_creds.json"),
    "opencode": _Signs((), "XDG_DATA_HOME", ".local/share", "opencode/auth.json"),
    "droid": _Signs(("FACTORY_API_KEY",), "", ".factory", "auth.json"),
    "amp": _Signs(("AMP_API_KEY",), "XDG_DATA_HOME", ".local/share", "amp/secrets.json"),
}  # fmt: skip


def login_seen(agent: str, environ: Mapping[str, str]) -> tuple[bool, str] | None:
    """Whether there is a sign that the agent is logged in, and which, or what was looked for; None if not known."""
    if agent not in _SIGNS:
        return None
    variables, moved, folder, file = _SIGNS[agent]
    home = environ.get("HOME") or os.path.expanduser("~")
    path = os.path.join(environ.get(moved, "") or os.path.join(home, folder), file)
    signs = [name for name in variables if environ.get(name)] + ([path] if os.path.exists(path) else [])
    return (True, signs[0]) if signs else (False, " or ".join([*variables, path]))
