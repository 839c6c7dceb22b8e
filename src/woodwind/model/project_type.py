"""What kinds of project a folder holds, told by file names alone, and how their dependencies are installed.

An installation follows the lock file and changes nothing that git would show: where that cannot be, nothing is
installed, and the build tool or the agent fetches what it needs.
"""

from collections.abc import Collection

from woodwind.model.typed import NamedTuple

VENV = ".venv"


class Install(NamedTuple):
    """One tool with the commands that it takes; `cache` is the folder that they fill, `locks` what decides about it."""

    tool: str
    commands: tuple[tuple[str, ...], ...]
    locks: tuple[str, ...] = ()
    cache: str = ""


_PIP = (
    ("python3", "-m", "venv", VENV),
    (f"{VENV}/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "-r", "requirements.txt"),
)
_NPM_CI = ("npm", "ci", "--no-audit", "--no-fund")
# In each family the first whose file is there wins: a lock file says more than a list of wishes.
_FAMILIES: tuple[tuple[tuple[str, Install], ...], ...] = (
    (
        ("uv.lock", Install("uv", (("uv", "sync", "--frozen"),))),
        ("poetry.lock", Install("poetry", (("poetry", "install", "--no-interaction"),))),
        ("Pipfile.lock", Install("pipenv", (("pipenv", "sync", "--dev"),))),
        ("requirements.txt", Install("pip", _PIP)),
    ),
    (
        ("bun.lock", Install("bun", (("bun", "install", "--frozen-lockfile"),), ("bun.lock",), "node_modules")),
        ("bun.lockb", Install("bun", (("bun", "install", "--frozen-lockfile"),), ("bun.lockb",), "node_modules")),
        (
            "pnpm-lock.yaml",
            Install("pnpm", (("pnpm", "install", "--frozen-lockfile"),), ("pnpm-lock.yaml",), "node_modules"),
        ),
        ("yarn.lock", Install("yarn", (("yarn", "install", "--frozen-lockfile"),), ("yarn.lock",), "node_modules")),
        ("package-lock.json", Install("npm", (_NPM_CI,), ("package-lock.json",), "node_modules")),
        ("npm-shrinkwrap.json", Install("npm", (_NPM_CI,), ("npm-shrinkwrap.json",), "node_modules")),
        (
            "package.json",
            Install("npm", (("npm", "install", "--no-package-lock", "--no-audit", "--no-fund"),), (), "node_modules"),
        ),
    ),
    (("Cargo.lock", Install("cargo", (("cargo", "fetch", "--locked"),))),),
    (("go.mod", Install("go", (("go", "mod", "download"),))),),
    (("composer.lock", Install("composer", (("composer", "install", "--no-interaction"),), ("composer.lock",))),),
)
# Lists of wishes whose tools would have to write a lock file first.
UNLOCKED = ("pyproject.toml", "Pipfile", "Cargo.toml", "composer.json")
# yarn from its second version on says it in another way, and has this file.
_YARN_2 = ".yarnrc.yml"
VARIABLES = {
    "poetry": {"POETRY_VIRTUALENVS_IN_PROJECT": "true"},
    "pipenv": {"PIPENV_VENV_IN_PROJECT": "1", "PIPENV_NOSPIN": "1"},
}


def detect(names: Collection[str]) -> list[Install]:
    """The installations for a folder with files of these names: at most one per language."""
    found = []
    for family in _FAMILIES:
        install = next((install for name, install in family if name in names), None)
        if install and install.tool == "yarn" and _YARN_2 in names:
            install = install._replace(commands=(("yarn", "install", "--immutable"),))
        if install:
            found.append(install)
    return found
