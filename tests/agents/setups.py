"""What each agent needs to talk to the scripted model: its own files in a private home, flags and variables.

All of it stands for what a user has set up long before Woodwind comes: logged in, first questions answered.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from woodwind.agents.codex import trusted_hash

KEY = "test-key-of-no-value"


class Setup(NamedTuple):
    """How one agent is set up."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # below the home
    free: str = "bypass"  # the permissions with which it works without asking
    asks: str = "ask"  # those with which it asks; "" where it never does
    ask_line: str = "model: run touch asked.txt"  # what makes it ask
    asks_to_read: bool = False  # whether it then asks before it reads the brief, too
    recalls: int = 5  # of the scripts of its life until it is killed, with the one that asks: what it still knows
    commits: bool = True  # whether it commits itself, with `free`
    own: Mapping[str, str] = {}  # hooks of the user's own, which must go on working: the file that each one makes


def setup_of(name: str, url: str, home: Path, repo: Path) -> Setup:
    """The set-up of an agent for a model at this address."""
    makers = {"claude": _claude, "codex": _codex, "pi": _pi, "gemini": _gemini, "opencode": _opencode}
    return makers[name](url, home, repo)


def _claude(url: str, home: Path, repo: Path) -> Setup:
    state = {
        "hasCompletedOnboarding": True,
        "projects": {str(repo): {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": [KEY[-20:]]},
    }
    own = {"hook in its settings": f"{home}/in-settings", "hook in a --settings file": f"{home}/in-file"}
    settings, given = (
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"touch {made}"}]}]}})
        for made in own.values()
    )
    quiet = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_AUTOUPDATER DISABLE_TELEMETRY DISABLE_ERROR_REPORTING "
    quiet += "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL"
    env = dict.fromkeys(quiet.split(), "1") | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    # It refuses to bypass permissions for root, unless it is told that this is a sandbox.
    env |= {"CLAUDE_CODE_MAX_RETRIES": "1", "IS_SANDBOX": "1"}
    files = {".claude.json": json.dumps(state), ".claude/settings.json": settings, "own-settings.json": given}
    return Setup(("--settings", f"{home}/own-settings.json"), env, files, own=own)


def _codex(url: str, home: Path, repo: Path) -> Setup:
    provider = f'name="local",base_url="{url}/v1",env_key="LOCAL_KEY",wire_api="responses"'
    retries = "request_max_retries=1,stream_max_retries=1"
    settings = (
        f"model_providers.local={{{provider},{retries}}}",
        'model_provider="local"',
        'model="scripted"',
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
    )
    args = tuple(word for setting in settings for word in ("-c", setting))
    env = {"LOCAL_KEY": KEY, "CODEX_HOME": str(home / ".codex")}
    ask = "model: escalate touch asked.txt"
    own = {"notify program": f"{home}/notified", "trusted hook": f"{home}/hooked"}
    files = {".codex/config.toml": _codex_config(home, *own.values())}
    return Setup(args, env, files, free="auto", asks="auto", ask_line=ask, commits=False, own=own)


def _codex_config(home: Path, notified: str, hooked: str) -> str:
    """The user's own configuration: a program to be told of turns, and a hook that they have looked at and trusted."""
    command = f"touch {hooked}"
    place = f"{home}/.codex/config.toml:stop:0:0"
    return (
        f'notify = ["touch", "{notified}", "--"]\n'
        f'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "{command}"\ntimeout = 10\n'
        f'[hooks.state."{place}"]\ntrusted_hash = "{trusted_hash("stop", command, 10)}"\n'
    )


def _pi(url: str, home: Path, repo: Path) -> Setup:
    local = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": "scripted"}]}
    env = {"PI_CODING_AGENT_DIR": str(home / ".pi"), "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    files = {".pi/models.json": json.dumps({"providers": {"local": local}})}
    return Setup(("--provider", "local", "--model", "scripted"), env, files, asks="")


def _gemini(url: str, home: Path, repo: Path) -> Setup:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    env = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_HOME": str(home)}
    files = {".gemini/settings.json": json.dumps(settings)}
    # It forgets a prompt that failed.
    return Setup(("--model", "gemini-2.5-pro"), env | {"GEMINI_CLI_NO_RELAUNCH": "true"}, files, recalls=4)


def _opencode(url: str, home: Path, repo: Path) -> Setup:
    models = {"scripted": {"name": "scripted"}}
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    local = {"npm": "@ai-sdk/openai-compatible", "name": "local", "options": options, "models": models}
    config = {"provider": {"local": local}, "model": "local/scripted", "small_model": "local/scripted"}
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    env = {f"OPENCODE_DISABLE_{what}": "1" for what in off}
    env["OPENCODE_CONFIG_CONTENT"] = json.dumps({**config, "autoupdate": False})
    return Setup(env=env, asks_to_read=True)
