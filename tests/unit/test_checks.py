"""The project's own checks, told from its files; and which files a stranger's commit may not set up things with."""

import pytest

from woodwind.model.agent_files import sets_up
from woodwind.model.checks import checks_for


@pytest.mark.parametrize(
    "texts, present, wanted",
    [
        ({}, [], []),
        ({"Makefile": "test: build\n\tx\nlint:\nX := 1\n"}, [], [("tests", "make test"), ("lint", "make lint")]),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n"}, ["uv.lock"],
         [("tests", "uv run pytest"), ("lint", "uv run ruff check .")]),
        ({"pyproject.toml": "[tool.mypy]\n"}, ["tests", "poetry.lock"],
         [("tests", "poetry run pytest"), ("types", "poetry run mypy .")]),
        ({"pyproject.toml": "not toml ["}, ["tests"], [("tests", "pytest")]),
        ({"package.json": '{"scripts": {"test": "vitest", "lint": "eslint"}}'}, ["pnpm-lock.yaml"],
         [("tests", "pnpm test"), ("lint", "pnpm run lint")]),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, [], []),
        ({"package.json": '{"scripts": {"test": "bun test"}}'}, ["bun.lock"], [("tests", "bun run test")]),
        ({"package.json": "[1]"}, [], []),
        ({"Cargo.toml": ""}, [], [("tests", "cargo test"), ("lint", "cargo clippy")]),
        ({"go.mod": ""}, [], [("tests", "go test ./..."), ("lint", "go vet ./...")]),
        ({"Makefile": "test:\n", "go.mod": ""}, [], [("tests", "make test")]),
    ],
)  # fmt: skip
def test_checks_are_told_from_files(texts: dict[str, str], present: list[str], wanted: list[tuple[str, str]]) -> None:
    assert checks_for(texts, present) == wanted


def test_what_decides_about_landing_comes_first_and_nothing_twice() -> None:
    found = checks_for({"Makefile": "test:\nlint:\n"}, [], verify="make test")
    assert found == [("what has to pass before it lands", "make test"), ("lint", "make lint")]


@pytest.mark.parametrize(
    "path, hidden",
    [
        ("CLAUDE.md", True), ("docs/claude.md", True), (".claude/settings.json", True), ("a/.codex/config.toml", True),
        (".mcp.json", True), ("AGENTS.md", True), (".env", True), (".env.local", True), ("a/.envrc", True),
        ("woodwind.toml", True), ("woodwind/templates/review.md", True), (".aider.conf.yml", True),
        ("AGENT.md", True), (".mise/config.toml", True), (".config/mise.toml", True), (".amazonq/rules/a.md", True),
        (".config/app.toml", False), ("README.md", False),
        ("src/claude.py", False), ("environment.yml", False), ("docs/agents.html", False),
        ("woodwind/app.py", False), ("src/.gitignore", False),
    ],
)  # fmt: skip
def test_what_sets_up_agents_and_environments_is_known(path: str, hidden: bool) -> None:
    assert sets_up(path) == hidden
