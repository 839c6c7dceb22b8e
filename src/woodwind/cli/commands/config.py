"""The parser and picture of `ww config`."""

import os
from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.base import paths
from woodwind.base.run import find_program, run_attached
from woodwind.cli.screen import Screen
from woodwind.config.load import load, project_file
from woodwind.config.schema import SECTIONS, fields
from woodwind.config.template import toml_value, write_first
from woodwind.model.errors import MissingTool, NotFound, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context

EXAMPLES = ["ww config show", "ww config validate", "ww config path", "ww config edit", "ww config edit --project"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    actions = ("show", "validate", "path", "edit")
    parser.add_argument("action", choices=actions, nargs="?", default="show", help="what to do; show if left out")
    parser.add_argument(
        "--project", action="store_true", help="with edit: the project's woodwind.toml instead of your own file"
    )


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    if args.project and args.action != "edit":
        raise UsageError("--project goes with `ww config edit`")
    write_first()
    if args.action == "path":
        return Outcome({"action": "path", "user": paths.config_file(), "project": _project_file(ctx)})
    if args.action == "edit":
        return _edit(ctx, args.project)
    loaded = ctx.loaded_config
    if args.action == "validate":
        return Outcome({"action": "validate", "files": loaded.files})
    values: dict[str, Any] = {}
    for section in SECTIONS:
        target = getattr(loaded.config, section)
        for f in fields(type(target)):
            values[f"{section}.{f.name}"] = getattr(target, f.name)
    for name, agent in loaded.config.agents.items():
        for f in fields(type(agent)):
            if f"agents.{name}.{f.name}" in loaded.sources:
                values[f"agents.{name}.{f.name}"] = getattr(agent, f.name)
    return Outcome({"action": "show", "values": values, "sources": loaded.sources, "files": loaded.files})


def _project_file(ctx: Context) -> str:
    try:
        repo = ctx.repo
    except WoodwindError:
        return ""
    return project_file(ctx.cwd, repo.top, repo.main_top) if repo.top else ""


def _edit(ctx: Context, project: bool) -> Outcome:
    path = paths.config_file()
    if project:
        path = _project_file(ctx) or os.path.join(ctx.repo.main_top or ctx.cwd, "woodwind.toml")
    elif not os.path.exists(path):
        raise NotFound(f"there is no {path}, and it could not be written", hint="Is its folder writable?")
    if not ctx.person:
        raise UsageError("editing needs a person at a terminal", hint=f"The file is {path}.")
    editor = (
        os.environ.get("VISUAL")
        or os.environ.get("EDITOR")
        or next((e for e in ("nano", "vim", "vi") if find_program(e)), "")
    )
    if not editor:
        raise MissingTool("there is no editor", hint=f"Set EDITOR, or edit {path} yourself.")
    code = run_attached(["sh", "-c", f'{editor} "$1"', "sh", path])
    if code:
        raise WoodwindError(f"the editor {editor} ended with status {code}")
    load(path if project else "")
    return Outcome({"action": "edit", "file": path})


def render(outcome: Outcome, screen: Screen) -> None:
    """Values with who set them; or what was asked."""
    data = outcome.data
    if data["action"] == "path":
        screen.line(f"user     {data['user']}")
        screen.line(f"project  {data['project'] or '(none: a woodwind.toml at the top of the repository)'}")
    elif data["action"] == "validate":
        screen.line("valid: " + (", ".join(data["files"]) or "no file, all at their defaults"))
    elif data["action"] == "edit":
        screen.line(f"{data['file']} is valid.")
    else:
        for key, value in data["values"].items():
            source = data["sources"].get(key, "")
            text = f"{key} = {toml_value(value)}"
            screen.line(f"{text:<60} {screen.paint(source or 'default', 'cyan' if source else 'dim')}")
