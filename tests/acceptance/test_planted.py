"""Programs that an agent, or whoever wrote the repository, left for us to run: none of them does."""

import json
from pathlib import Path

from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker

HOOKS = (
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg "
    "post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update "
    "reference-transaction push-to-checkout pre-auto-gc post-rewrite post-index-change fsmonitor-watchman"
).split()
# Settings of git that name a program. Filters and merge drivers are not among them: they run as with plain git.
SETTINGS = (
    "core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand "
    "sequence.editor diff.external diff.spy.command diff.spy.textconv difftool.spy.cmd merge.guitool "
    "mergetool.spy.cmd interactive.diffFilter gpg.program gpg.ssh.program credential.helper pager.status pager.diff "
    "pager.log uploadpack.packObjectsHook trailer.spy.cmd trailer.spy.command browser.spy.cmd web.browser help.browser"
).split()
COMMANDS = "status diff log add commit checkout worktree merge rev-parse update-ref branch reset ls-files".split()


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def plant(sandbox: Sandbox, repo: Path) -> Path:
    """Everything at once, each with its own name for the case that it ran; returns the file that would tell of it."""
    ran = sandbox.home / "ran"
    for folder in (repo / ".git" / "hooks", sandbox.home / "hooks"):
        for name in HOOKS:
            script(folder / name, f"echo hook {name} >> {ran}")
    trap = sandbox.home / "trap"
    script(trap, f'echo "setting $1 $*" >> {ran}')
    lines = [f"[core]\n\thooksPath = {sandbox.home / 'hooks'}\n"]
    lines += ["[log]\n\tshowSignature = true\n[submodule]\n\trecurse = true\n"]
    for key in SETTINGS:
        section, _, name = key.rpartition(".")
        head, _, sub = section.partition(".")
        lines.append(f"[{head}{f' {chr(34)}{sub}{chr(34)}' if sub else ''}]\n\t{name} = {trap} {key}\n")
    lines += ["[alias]\n", *(f"\t{name} = !{trap} alias.{name}\n" for name in COMMANDS)]
    (sandbox.home / "included").write_text("".join(lines))
    with (repo / ".git" / "config").open("a") as config:
        config.write(f"[include]\n\tpath = {sandbox.home / 'included'}\n")
    return ran


def settings_of_agents(ran: str) -> dict[str, str]:
    """Files of a worktree that agents, editors, shells and package managers obey: some would run something."""
    run = f"echo file >> {ran}"
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": run}]}]}}
    server = {"mcpServers": {"spy": {"command": "sh", "args": ["-c", run]}}}
    toml = f'[mcp_servers.spy]\ncommand = "sh"\nargs = ["-c", "{run}"]\nnotify = ["sh", "-c", "{run}"]\n'
    return {
        ".claude/settings.json": json.dumps(hook),
        ".claude/settings.local.json": json.dumps(hook),
        ".mcp.json": json.dumps(server),
        ".codex/config.toml": toml,
        ".gemini/settings.json": json.dumps(server),
        ".envrc": run,
        ".tmux.conf": f"run-shell '{run}'\n",
        ".profile": run,
        ".vscode/tasks.json": "{}",
        "sitecustomize.py": f"open({ran!r}, 'a').write('site')\n",
        "woodwind/__init__.py": f"open({ran!r}, 'a').write('package')\n",
        "json.py": f"open({ran!r}, 'a').write('json')\n",
        "git": f"#!/bin/sh\n{run}\n",
        "tmux": f"#!/bin/sh\n{run}\n",
        "cat": f"#!/bin/sh\n{run}\n",
        ".gitattributes": "* diff=spy\n",
    }


def test_nothing_that_was_planted_runs_in_the_life_of_a_worker(sandbox: Sandbox, repo: Path) -> None:
    files = settings_of_agents(str(sandbox.home / "ran"))
    assert len(HOOKS) + len(SETTINGS) + len(files) >= 30
    commit(repo, "Files that others obey", files)
    for name in ("git", "tmux", "cat"):
        (repo / name).chmod(0o755)
    commit(repo, "Programs")
    ran = plant(sandbox, repo)
    quiet = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "/dev/null"}
    tree = new_worker(sandbox, repo)
    # Inside a worktree its own woodwind.toml counts: such texts need approval there as in the main checkout.
    (tree / "woodwind.toml").write_text(f'[hooks]\nsetup = "echo toml >> {ran}"\nteardown = "echo toml >> {ran}"\n')
    with (repo / "woodwind.toml").open("a") as config:
        config.write(f'\n[hooks]\nsetup = "echo toml >> {ran}"\nteardown = "echo toml >> {ran}"\n')
        config.write(f'[environment]\ncommands = ["echo toml >> {ran}"]\n')
    (tree / "README.md").write_text("changed\n")
    (tree / "new.txt").write_text("new\n")
    name = "worker-one"
    for at in (repo, tree):  # also from inside, where a program or module of that name is in the current folder
        for words in (
            ("ls",), ("show", name), ("diff", name), ("diff", name, "--stat"), ("log", name), ("brief", name),
            ("path", name), ("review", name), ("forecast",), ("critic", "delete", name), ("explain", name),
            ("history",), ("doctor",), ("brief", "--preview", "Do it"), ("sync", name), ("exec", name, "--", "true"),
            ("new", "--no-agent", "--name", f"other-{at.name}"),
        ):  # fmt: skip
            done = sandbox.ww(*words, cwd=at)
            assert done.code in (0, 1), done
            assert "bug in Woodwind" not in done.stderr, done
            assert not ran.exists(), (words, ran.read_text())
    (tree / "README.md").write_text("# Project\n")
    for file in ("new.txt", "woodwind.toml"):
        (tree / file).unlink()
    tip = git(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "More", env=quiet)
    git(repo, "update-ref", "refs/heads/main", tip, env=quiet)
    ran.unlink(missing_ok=True)
    for words in (
        ("sync", name), ("rm", name, "--yes"), ("restore", name), ("resume", name, "--fresh"), ("rm", name, "--yes"),
        ("trash", "prune", name, "--yes"), ("restore", name),
    ):  # fmt: skip
        sandbox.ww(*words, cwd=repo, check=True)
        assert not ran.exists(), (words, ran.read_text())
    git(tree, "commit", "--quiet", "--allow-empty", "-m", "See that the traps work")
    assert "hook post-commit" in ran.read_text()
