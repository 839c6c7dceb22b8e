"""Signs of a login: a variable or a file, wherever the agent was told to keep it."""

from pathlib import Path

import pytest

from woodwind.agents.logins import login_seen


@pytest.mark.parametrize(
    "agent, variables, file",
    [
        ("claude", {}, "home/.claude/.credentials.json"),
        ("claude", {"CLAUDE_CONFIG_DIR": "elsewhere"}, "elsewhere/.credentials.json"),
        ("codex", {"CODEX_HOME": "elsewhere"}, "elsewhere/auth.json"),
        ("opencode", {"XDG_DATA_HOME": "data"}, "data/opencode/auth.json"),
        ("gemini", {"CODEX_HOME": "elsewhere"}, "home/.gemini/oauth_creds.json"),
    ],
)
def test_a_file_is_looked_for_where_the_agent_keeps_it(
    tmp_path: Path, agent: str, variables: dict[str, str], file: str
) -> None:
    environ = {"HOME": str(tmp_path / "home"), **{name: str(tmp_path / folder) for name, folder in variables.items()}}
    path = tmp_path / file
    missing = login_seen(agent, environ)
    assert missing
    assert (missing[0], missing[1].split(" or ")[-1]) == (False, str(path))
    path.parent.mkdir(parents=True)
    path.touch()
    assert login_seen(agent, environ) == (True, str(path))


def test_a_variable_is_named_and_never_its_value(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": "secret"}
    assert login_seen("codex", environ) == (True, "OPENAI_API_KEY")
    assert login_seen("claude", environ) == (
        False,
        "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN or CLAUDE_CODE_USE_BEDROCK or "
        f"{tmp_path}/.claude/.credentials.json",
    )
    assert login_seen("rehearsal", environ) is None
