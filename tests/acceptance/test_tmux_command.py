"""`ww tmux`: keys, a status segment and a picker in the user's own tmux, and out again without a trace."""

import sys
from pathlib import Path

import pytest

from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, rehearse

# Keys that come at once would be taken for a paste.
LINES = "set-option -g status-interval 1\nset-option -g assume-paste-time 0\n# a last line without an end"


def test_nothing_is_written_without_a_yes_and_uninstall_leaves_the_file_as_it_was(sandbox: Sandbox) -> None:
    real = sandbox.home / "dotfiles.conf"
    real.write_text(LINES)
    real.chmod(0o600)
    conf = sandbox.home / ".tmux.conf"
    conf.symlink_to("dotfiles.conf")
    assert sandbox.ww("tmux", "install-keys").code == 2
    shown = sandbox.ww("tmux", "install-keys", "--print", "--key", "C-w", check=True).stdout
    assert "'C-w' switch-client -T woodwind" in shown
    assert real.read_text() == LINES
    for name in ("keys", "status"):
        assert sandbox.ww("tmux", f"install-{name}", "--yes", "--json", check=True).json["data"]["changed"]
        again = sandbox.ww("tmux", f"install-{name}", "--yes", check=True)
        assert again.stdout == f"{conf} has it already.\n"
    assert conf.is_symlink()
    assert real.read_text().startswith(LINES)
    sandbox.ww("tmux", "uninstall", "--yes", check=True)
    assert real.read_bytes() == LINES.encode()
    assert real.stat().st_mode & 0o777 == 0o600
    assert not sandbox.ww("tmux", "uninstall", "--yes", "--json", check=True).json["data"]["changed"]


def test_a_file_that_was_made_for_it_goes_again(sandbox: Sandbox) -> None:
    conf = sandbox.home / ".config/tmux/mine.conf"
    conf.parent.mkdir(parents=True)
    sandbox.ww("tmux", "install-status", "--yes", "--file", str(conf), check=True)
    assert conf.exists()
    sandbox.ww("tmux", "uninstall", "--yes", "--file", str(conf), check=True)
    assert not conf.exists()


def test_a_link_to_a_file_that_is_not_there_yet_stays_and_a_folder_that_is_not_there_is_said(sandbox: Sandbox) -> None:
    real, conf = sandbox.home / "dotfiles.conf", sandbox.home / ".tmux.conf"
    conf.symlink_to("dotfiles.conf")
    sandbox.ww("tmux", "install-keys", "--yes", check=True)
    assert real.exists()
    sandbox.ww("tmux", "uninstall", "--yes", check=True)
    assert (conf.is_symlink(), real.exists()) == (True, False)
    nowhere = sandbox.home / "nowhere" / "mine.conf"
    refused = sandbox.ww("tmux", "install-keys", "--yes", "--file", str(nowhere), "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_writable")
    assert f"{nowhere} cannot be written: No such file" in refused.json["error"]["message"]


@pytest.mark.parametrize("key", ["", "two words", "W; kill-server", "W\nbind"])
def test_a_key_that_is_none_is_refused(sandbox: Sandbox, key: str) -> None:
    assert sandbox.ww("tmux", "install-keys", "--yes", "--key", key, "--json").json["error"]["code"] == "usage"
    assert not (sandbox.home / ".tmux.conf").exists()


def test_popups_need_a_tmux_that_has_them(sandbox: Sandbox) -> None:
    repo = make_repo(sandbox.home / "project")
    assert sandbox.ww("tmux", "pick", "--json", cwd=repo).json["error"]["code"] == "usage"
    old = sandbox.home / "old"
    old.mkdir()
    (old / "tmux").write_text("#!/bin/sh\necho tmux 3.1c\n")
    (old / "tmux").chmod(0o755)
    command = f"PATH='{old}':\"$PATH\" exec '{sys.executable}' -m woodwind tmux popup"
    pane = sandbox.run_in_pane("sh", "-c", command, cwd=repo, env=sandbox.env, until_shown=True)
    assert sandbox.exit_status(pane, timeout=60) == 4, sandbox.screen(pane)
    assert "popups need tmux 3.2 or later, found tmux 3.1c" in sandbox.screen(pane, history=True)


def test_the_keys_and_the_segment_work_in_a_real_tmux(sandbox: Sandbox) -> None:
    repo = make_repo(sandbox.home / "project")
    programs = sandbox.home / "bin"
    programs.mkdir()
    (programs / "ww").write_text(f"#!/bin/sh\nexec '{sys.executable}' -m woodwind \"$@\"\n")
    (programs / "ww").chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    conf = sandbox.home / ".tmux.conf"
    conf.write_text(LINES)
    for name in ("keys", "status"):
        sandbox.ww("tmux", f"install-{name}", "--yes", check=True)
    rehearse(sandbox, repo, "say Hello")
    sandbox.wait_for(lambda: listed(sandbox, repo)["status"] == "ready", 60, "the agent to be ready")
    assert sandbox.ww("tmux", "status", cwd=Path("/"), check=True).stdout == "ww 1 ready\n"
    words = ("tmux", "-L", "user", "-f", str(conf), "new-session", "-c", str(repo), "cat")
    outer = sandbox.run_in_pane(*words, server="outer", cwd=repo)
    sandbox.wait_for(lambda: "ww 1 ready" in sandbox.screen(outer, server="outer"), 60, "the segment")
    sandbox.tmux("source-file", str(conf), server="user")  # once more, as people do
    assert sandbox.tmux("show-options", "-gv", "status-right", server="user").count("woodwind_status") == 1
    sandbox.press(outer, "C-b", "W", "s", server="outer")
    sandbox.wait_for(lambda: "Go to [1-1]" in sandbox.screen(outer, server="outer"), 60, "the picker in a popup")
    assert "worker-one  ready" in sandbox.screen(outer, server="outer")

    def closed() -> bool:
        """Whether no popup is left: all but the status line is as empty as it was."""
        return not "".join(sandbox.screen(outer, server="outer").splitlines()[:-1]).strip()

    sandbox.press(outer, "C-c", server="outer")
    sandbox.wait_for(closed, 60, "the picker's popup to close")
    sandbox.press(outer, "C-b", "W", "c", server="outer")
    sandbox.wait_for(lambda: "IN FLIGHT 1" in sandbox.screen(outer, server="outer"), 60, "the control plane")
    sandbox.press(outer, "q", server="outer")
    sandbox.wait_for(closed, 60, "the control plane's popup to close")
