"""Texts made from the schema: the commented file for a new user, and the reference for docs/."""

import os
from typing import Any

from woodwind.base import paths
from woodwind.base.files import write_atomic
from woodwind.config.load import variable_for
from woodwind.config.schema import SECTIONS, Agent, Section, fields


def toml_value(value: Any) -> str:
    """A Python value in TOML's spelling."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{toml_value(k)} = {toml_value(v)}" for k, v in value.items()) + " }" if value else "{}"
        )
    out = ['"']
    for ch in str(value):
        if ch in '"\\':
            out.append("\\" + ch)
        elif ord(ch) < 32 or ord(ch) == 127:
            out.append(f"\\u{ord(ch):04x}")
        else:
            out.append(ch)
    return "".join(out) + '"'


def template() -> str:
    """The user's file as it is first written: every key, commented out at its default."""
    lines = [
        "# Woodwind's configuration for this user. Every key is shown at its default: remove the # to change it.",
        "# A project can have its own on top, in a file woodwind.toml at its root. `ww config show` tells what holds.",
    ]
    for section, cls in SECTIONS.items():
        lines += ["", f"# {cls.__doc__}", f"[{section}]"]
        for f in fields(cls):
            choices = f.metadata["choices"]
            lines.append(f"# {f.metadata['doc']}" + (f" ({', '.join(choices)})" if choices else ""))
            lines.append(f"# {f.name} = {toml_value(f.default)}")
    lines += ["", f"# {Agent.__doc__}", "# [agents.NAME]"]
    for f in fields(Agent):
        lines += [f"# {f.metadata['doc']}", f"# {f.name} = {toml_value(f.shape)}"]
    return "\n".join(lines) + "\n"


def reference() -> str:
    """The configuration reference, in Markdown."""
    lines = [
        "# Configuration",
        "",
        "<!-- Made from the schema by `make docs`: edit src/woodwind/config/schema.py instead. -->",
        "",
        "Layers, each on top of the one before, key by key: defaults, the user's file",
        "(`$XDG_CONFIG_HOME/woodwind/config.toml`, written with comments at first use), the project's file",
        "(`woodwind.toml`, the nearest one from the current folder up to the top of the checkout), environment",
        "variables, and a command's own flags. An unknown key is an error. `ww config show` tells what holds and who",
        "set it.",
    ]
    sections: dict[str, type[Section]] = {**SECTIONS, "agents.NAME": Agent}
    for section, cls in sections.items():
        lines += [
            "",
            f"## [{section}]",
            "",
            str(cls.__doc__),
            "",
            "| key | default | meaning | variable |",
            "|---|---|---|---|",
        ]
        for f in fields(cls):
            choices = f.metadata["choices"]
            doc = f.metadata["doc"] + (f" One of {', '.join(f'`{c}`' for c in choices)}." if choices else "")
            variable = (
                "" if cls is Agent or isinstance(f.default, dict) else f"`{variable_for(section, f.name, f.metadata)}`"
            )
            default = "" if f.default is None else f"`{toml_value(f.default)}`"
            lines.append(f"| `{f.name}` | {default} | {doc.replace('|', chr(92) + '|')} | {variable} |")
    return "\n".join(lines) + "\n"


def write_first(path: str | None = None) -> bool:
    """Write the commented user file when there is none; False when it is there or cannot be written."""
    path = path or paths.config_file()
    if os.path.lexists(path):
        return False
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_atomic(path, template().encode())
    except OSError:
        return False  # a comfort only: a home that cannot be written to must not stop a command
    return True
