"""`ww tmux`: our blocks in the user's tmux configuration, put there and taken out only when they say so."""

import os
import re
import shlex
import stat
import sys
from collections.abc import Collection
from typing import Any

from woodwind.base.files import write_atomic
from woodwind.base.run import find_program, run
from woodwind.model import tmux_keys
from woodwind.model.errors import MissingTool, UsageError, WoodwindError
from woodwind.model.marked_block import drop, put
from woodwind.muxes.registry import Surroundings
from woodwind.muxes.tmux.client import missing_tmux, quote
from woodwind.ops.context import Context

BLOCKS = ("keys", "status")
_KEY = re.compile(r"(?:[CMS]-)*(?:[!-~]|F[0-9]{1,2})")
_POPUPS_SINCE = (3, 2)


def conf_file(ctx: Context, chosen: str = "") -> str:
    """The tmux configuration to work on: the one that was named, or the first that is there, or ~/.tmux.conf."""
    home = os.path.expanduser("~")
    if chosen:
        return os.path.join(ctx.cwd, os.path.expanduser(chosen))
    config = ctx.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    found = [os.path.join(home, ".tmux.conf"), os.path.join(config, "tmux", "tmux.conf")]
    return next((path for path in found if os.path.exists(path)), found[0])


def program() -> str:
    """How a shell starts this program."""
    ww = find_program("ww")
    return shlex.quote(ww) if ww else f"{shlex.quote(sys.executable)} -P -m woodwind"


def block(name: str, *, key: str, commands: Collection[str]) -> str:
    """The text of a block."""
    if name == "status":
        return tmux_keys.status(program(), quote)
    if not _KEY.fullmatch(key):
        raise UsageError(f"{key!r} is not a key that tmux knows", hint="For example W, C-w or F9.")
    return tmux_keys.keys(key, program(), commands, quote)


def install(ctx: Context, path: str, name: str, body: str, *, yes: bool) -> dict[str, Any]:
    """Put a block into the file, once the user has seen it and agreed."""
    before = _read(path)
    after = put(before, name, body)
    if after != before:
        _agree(ctx, f"{path} would get:\n\n{body}\nAdd it?", yes=yes)
        _write(path, after)
    return {"file": path, "changed": after != before, "text": body if after != before else ""}


def uninstall(ctx: Context, path: str, *, yes: bool) -> dict[str, Any]:
    """Take our blocks out, and nothing else."""
    before = _read(path)
    after = drop(before, BLOCKS) if before is not None else None
    if after != before:
        _agree(ctx, f"Take Woodwind's keys and status line out of {path}?", yes=yes)
        if after is None:
            os.unlink(os.path.realpath(path))  # of a link, the file that was made for it goes
        else:
            _write(path, after)
    return {"file": path, "changed": after != before, "text": ""}


def _agree(ctx: Context, question: str, *, yes: bool) -> None:
    if yes:
        return
    if not ctx.confirm:
        raise UsageError(
            "changing the tmux configuration needs --yes where there is no terminal to ask on",
            hint="--print shows what would be added.",
        )
    if not ctx.confirm(question):
        raise WoodwindError("nothing was changed", code="declined")


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WoodwindError(f"{path} cannot be read: {error.strerror}", code="system") from error


def _write(path: str, text: str) -> None:
    """Whole or not at all, and to the file itself where `path` is a link to it, as in a folder of dot files."""
    real = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else 0o644
    try:
        write_atomic(real, text.encode("utf-8", "surrogateescape"), mode=mode)
    except OSError as error:
        raise WoodwindError(
            f"{path} cannot be written: {error.strerror}", code="not_writable", hint="--file names another file."
        ) from error


def popup_argv(ctx: Context) -> list[str]:
    """The program that opens the picker in a popup over the current tmux client."""
    if not Surroundings(ctx.environ).socket:
        raise UsageError("a popup needs a tmux around it, and this terminal is not in tmux", hint="ww tmux pick")
    said = run(["tmux", "-V"], ok=None).text if find_program("tmux") else ""
    if not said:
        raise missing_tmux()
    version = tuple(int(n) for n in re.findall(r"\d+", said)[:2])
    if version and version < _POPUPS_SINCE:
        raise MissingTool(
            f"popups need tmux 3.2 or later, found {said.strip()}", code="tmux_old", hint="ww tmux pick works without."
        )
    return ["tmux", "display-popup", "-EE", "-w", "90%", "-h", "80%", tmux_keys.popup_command(f"{program()} tmux pick")]
