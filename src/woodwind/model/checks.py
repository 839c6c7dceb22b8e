"""A project's own checks: the commands that test and lint it, told from the files at its top."""

import json
from collections.abc import Iterable, Mapping

from woodwind.model.typed import Any

# The files whose texts tell, and those whose mere presence does.
TELLING = ("Makefile", "pyproject.toml", "package.json", "Cargo.toml", "go.mod")
PRESENT = (
    "uv.lock", "poetry.lock", "Pipfile.lock", "bun.lock", "bun.lockb", "pnpm-lock.yaml", "yarn.lock", "tests",
    "tox.ini", "pytest.ini",
)  # fmt: skip
_NODE = {"bun.lock": "bun", "bun.lockb": "bun", "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn"}
_PYTHON = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "Pipfile.lock": "pipenv run "}


def checks_for(texts: Mapping[str, str], present: Iterable[str], verify: str = "") -> list[tuple[str, str]]:
    """(what it is, the command), the one that decides about landing first."""
    there = set(present)
    found: list[tuple[str, str]] = [("what has to pass before it lands", verify)] if verify else []
    targets = _targets(texts.get("Makefile", ""))
    found += [(what, f"make {target}") for what, target in _BY_MAKE if target in targets]
    if not any(what == "tests" for what, _ in found):
        found += _python(texts.get("pyproject.toml"), there)
        found += _node(texts.get("package.json"), there)
        if "Cargo.toml" in texts:
            found += [("tests", "cargo test"), ("lint", "cargo clippy")]
        if "go.mod" in texts:
            found += [("tests", "go test ./..."), ("lint", "go vet ./...")]
    commands: set[str] = set()
    return [(what, command) for what, command in found if not (command in commands or commands.add(command))]  # type: ignore[func-returns-value]


_BY_MAKE = (("tests", "test"), ("lint", "lint"), ("checks", "check"))


def _targets(makefile: str) -> set[str]:
    lines = [line for line in makefile.splitlines() if line[:1].isalpha() and ":" in line and ":=" not in line]
    return {word for line in lines for word in line.partition(":")[0].split()}


def _python(text: str | None, there: set[str]) -> list[tuple[str, str]]:
    if text is None and not there & {"tox.ini", "pytest.ini"}:
        return []
    tools = _tools(text) if text else {}
    run = next((words for file, words in _PYTHON.items() if file in there), "")
    found = [("tests", f"{run}pytest")] if "pytest" in tools or there & {"tests", "pytest.ini"} else []
    found += [("lint", f"{run}ruff check .")] if "ruff" in tools else []
    return found + ([("types", f"{run}mypy .")] if "mypy" in tools else [])


def _tools(pyproject: str) -> dict[str, Any]:
    import tomllib  # 3 ms, for projects in Python

    try:
        found: dict[str, Any] = tomllib.loads(pyproject).get("tool", {})
    except tomllib.TOMLDecodeError:
        return {}
    return found


def _node(text: str | None, there: set[str]) -> list[tuple[str, str]]:
    try:
        found: Any = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return []
    scripts = found.get("scripts") if isinstance(found, dict) else None
    if not isinstance(scripts, dict):
        return []
    run = next((program for file, program in _NODE.items() if file in there), "npm")
    out = []
    if "test" in scripts and "no test specified" not in str(scripts["test"]):
        out.append(("tests", f"{run} run test" if run == "bun" else f"{run} test"))
    return out + [(what, f"{run} run {what}") for what in ("lint", "typecheck") if what in scripts]
