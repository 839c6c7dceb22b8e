"""Where agents keep what they are logged in with: a variable or a file that is there is a sign, and never read."""

import os
from collections.abc import Mapping

# Variables, and files below the home folder. An agent that is not here tells nothing about its login.
_SIGNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "claude": (
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"),
        (".claude/.credentials.json",),
    ),
    "codex": (("OPENAI_API_KEY", "CODEX_API_KEY"), (".codex/auth.json",)),
    "gemini": (("GEMINI_API_KEY", "GOOGLE_API_KEY"), (".gemini/oauth_creds.json",)),
    "opencode": ((), (".local/share/opencode/auth.json",)),
    "droid": (("FACTORY_API_KEY",), (".factory/auth.json",)),
    "amp": (("AMP_API_KEY",), (".local/share/amp/secrets.json",)),
}


def login_seen(agent: str, environ: Mapping[str, str]) -> bool | None:
    """Whether there is a sign that the agent is logged in; None when nothing is known about its signs."""
    if agent not in _SIGNS:
        return None
    variables, files = _SIGNS[agent]
    home = environ.get("HOME") or os.path.expanduser("~")
    return any(environ.get(name) for name in variables) or any(os.path.exists(os.path.join(home, f)) for f in files)
