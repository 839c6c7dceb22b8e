"""`ww init`: what it writes, what it leaves alone, and that --remove leaves no trace."""

import os
from pathlib import Path

from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox


def tree(repo: Path) -> dict[str, bytes | str]:
    """All files with their bytes, and links with where they lead."""
    found: dict[str, bytes | str] = {}
    for path in sorted(repo.rglob("*")):
        if ".git" in path.relative_to(repo).parts:
            continue
        if path.is_symlink():
            found[str(path.relative_to(repo))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(repo))] = path.read_bytes()
        else:
            found[str(path.relative_to(repo))] = "folder"
    return found


def claude(sandbox: Sandbox) -> dict[str, str]:
    """Where a program called claude is installed."""
    folder = sandbox.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "claude").write_text("#!/bin/sh\nexec cat\n")
    (folder / "claude").chmod(0o755)
    return {"PATH": f"{folder}:{sandbox.env['PATH']}"}


def test_it_writes_once_and_removes_without_a_trace(sandbox: Sandbox, repo: Path) -> None:
    commit(repo, "Conventions", {"AGENTS.md": "# How we work\r\n\r\nCarefully", "Makefile": "test:\n\ttrue\n"})
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(repo)
    env = claude(sandbox)
    done = sandbox.ww("init", "--yes", "--json", cwd=repo, env=env, check=True).json["data"]["files"]
    told = {file["path"]: file["how"] for file in done}
    assert told == {
        "woodwind.toml": "keep",
        "woodwind/context/project.md": "create",
        "AGENTS.md": "add",
        ".claude/skills/woodwind/SKILL.md": "create",
        ".claude/commands/ww-new.md": "create",
        ".claude/commands/ww-status.md": "create",
        ".claude/commands/ww-review.md": "create",
    }
    assert next(file["tracked"] for file in done if file["path"] == "AGENTS.md")
    text = (repo / "AGENTS.md").read_bytes()
    assert text.startswith(b"# How we work\r\n\r\nCarefully\r\n\r\n<!-- woodwind:begin joined -->\r\n## Woodwind\r\n")
    assert (repo / "CLAUDE.md").is_symlink()
    after = tree(repo)
    again = sandbox.ww("init", "--yes", "--json", cwd=repo, env=env, check=True).json["data"]["files"]
    assert {file["how"] for file in again} == {"keep"}
    assert tree(repo) == after
    assert "make test" in sandbox.ww("brief", "--preview", "Do it", cwd=repo, check=True).stdout
    sandbox.ww("init", "--remove", "--yes", cwd=repo, check=True)
    assert tree(repo) == before
    assert "left woodwind.toml" in sandbox.ww("init", "--remove", "--yes", cwd=repo, check=True).stdout


def test_what_the_user_changed_or_had_before_stays(sandbox: Sandbox, repo: Path) -> None:
    (repo / "woodwind.toml").unlink()
    (repo / ".claude" / "commands").mkdir(parents=True)
    (repo / ".claude" / "commands" / "ww-new.md").write_text("mine\n")
    sandbox.ww("init", "--yes", cwd=repo, check=True)
    assert (repo / ".claude" / "commands" / "ww-new.md").read_text() == "mine\n"
    sandbox.ww("config", "validate", cwd=repo, check=True)
    context = repo / "woodwind" / "context" / "project.md"
    context.write_text(context.read_text() + "We sell greetings.\n")
    agents = repo / "AGENTS.md"
    agents.write_text(agents.read_text() + "\nMy own words.\n")
    done = sandbox.ww("init", "--remove", "--yes", "--json", cwd=repo, check=True).json["data"]["files"]
    kept = {file["path"] for file in done if file["how"] == "keep"}
    assert kept == {"woodwind/context/project.md", ".claude/commands/ww-new.md"}
    assert "We sell greetings." in context.read_text()
    assert agents.read_text() == "\nMy own words.\n"
    assert not (repo / "woodwind.toml").exists()


def test_without_a_terminal_it_wants_a_yes_and_names_the_files(sandbox: Sandbox, repo: Path) -> None:
    before = tree(repo)
    done = sandbox.ww("init", "--json", cwd=repo)
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert "AGENTS.md" in done.json["error"]["hint"]
    assert tree(repo) == before
    assert git(repo, "status", "--porcelain") == ""


def test_a_link_out_of_the_repository_is_not_followed(sandbox: Sandbox, repo: Path) -> None:
    outside = sandbox.home / "shared.md"
    outside.write_text("shared\n")
    (repo / "AGENTS.md").symlink_to(outside)
    (repo / ".claude").symlink_to(sandbox.home)
    done = sandbox.ww("init", "--yes", "--json", cwd=repo, check=True).json["data"]["files"]
    kept = {file["path"]: file["how"] for file in done}
    assert (kept["AGENTS.md"], kept[".claude/commands/ww-new.md"]) == ("keep", "keep")
    assert outside.read_text() == "shared\n"
    assert not (sandbox.home / "commands").exists()


def test_damaged_marks_stop_it_before_anything_is_removed(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("init", "--yes", cwd=repo, check=True)
    agents = repo / "AGENTS.md"
    agents.write_text(agents.read_text().replace("<!-- woodwind:end -->", ""))
    before = tree(repo)
    done = sandbox.ww("init", "--remove", "--yes", "--json", cwd=repo)
    assert (done.code, done.json["error"]["code"]) == (1, "marks_damaged")
    assert tree(repo) == before
