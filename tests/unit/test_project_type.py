"""Which dependencies are installed, told by file names."""

import pytest

from woodwind.model.project_type import detect


@pytest.mark.parametrize(
    "names, commands",
    [
        ([], []),
        (["README.md", "main.c", "Makefile"], []),
        (["uv.lock", "pyproject.toml", "requirements.txt"], ["uv sync --frozen"]),
        (["poetry.lock", "pyproject.toml"], ["poetry install --no-interaction"]),
        (["Pipfile", "Pipfile.lock"], ["pipenv sync --dev"]),
        (["bun.lock", "package.json", "package-lock.json"], ["bun install --frozen-lockfile"]),
        (["bun.lockb", "package.json"], ["bun install --frozen-lockfile"]),
        (["pnpm-lock.yaml", "package.json", "yarn.lock"], ["pnpm install --frozen-lockfile"]),
        (["yarn.lock", "package.json"], ["yarn install --frozen-lockfile"]),
        (["yarn.lock", "package.json", ".yarnrc.yml"], ["yarn install --immutable"]),
        (["package-lock.json", "package.json"], ["npm ci --no-audit --no-fund"]),
        (["npm-shrinkwrap.json", "package.json"], ["npm ci --no-audit --no-fund"]),
        (["package.json"], ["npm install --no-package-lock --no-audit --no-fund"]),
        (["Cargo.toml", "Cargo.lock"], ["cargo fetch --locked"]),
        (["go.mod", "go.sum"], ["go mod download"]),
        (["composer.json", "composer.lock"], ["composer install --no-interaction"]),
        # Without a lock file these would write one, which git would show as a change.
        (["pyproject.toml"], []),
        (["Pipfile"], []),
        (["Cargo.toml"], []),
        (["composer.json"], []),
        (["uv.lock", "yarn.lock", "go.mod"], ["uv sync --frozen", "yarn install --frozen-lockfile", "go mod download"]),
    ],
)  # fmt: skip
def test_the_commands_by_file_names(names: list[str], commands: list[str]) -> None:
    assert [" ".join(words) for install in detect(names) for words in install.commands] == commands


def test_pip_installs_into_an_environment_of_the_worktree() -> None:
    [install] = detect(["requirements.txt"])
    assert install.tool == "pip"
    assert [words[0] for words in install.commands] == ["python3", ".venv/bin/python"]
    assert install.cache == ""  # one that was copied would still lead to the first
