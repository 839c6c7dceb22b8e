"""Which files of a repository set up agents, environments or Woodwind: a stranger's must not."""

import posixpath

_NAMES = frozenset(
    "agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md crush.md warp.md skill.md "
    ".mcp.json opencode.json opencode.jsonc .goosehints .cursorrules .windsurfrules .clinerules .rules "
    ".envrc .env mise.toml .mise.toml .tool-versions woodwind.toml".split()
)
_STARTS = (".env.", ".aider")
_FOLDERS = frozenset(
    ".claude .claude-plugin .codex .gemini .opencode .pi .factory .amp .goose .kiro .cursor .agents .openclaude "
    ".amazonq .qwen .cline .roo .windsurf .continue .woodwind .vscode .idea .zed .devcontainer .mise".split()
)


def sets_up(path: str) -> bool:
    """Whether a tracked path, with `/` between its parts, is one that an agent, editor, shell or `ww` may obey."""
    parts = path.lower().split("/")
    name = posixpath.basename(path).lower()
    if parts[0] == "woodwind" and len(parts) > 1 and parts[1] in ("context", "templates"):
        return True
    if ".config" in parts and any(part.startswith("mise") for part in parts):
        return True
    return name in _NAMES or name.startswith(_STARTS) or any(part in _FOLDERS for part in parts)
