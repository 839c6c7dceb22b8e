"""The configuration that holds here: defaults < user < project < environment (flags are the command's own)."""

import os
from collections.abc import Mapping

from woodwind.base import paths
from woodwind.config.parsed import tables_of
from woodwind.config.schema import SECTIONS, USER_ONLY, Agent, Config, fields
from woodwind.config.sizes import parse_size
from woodwind.model.errors import ConfigError
from woodwind.model.typed import Any

PROJECT_FILE = "woodwind.toml"
_SIZES = ("trash.max_size", "limits.memory", "critic.large_size", "environment.copy_caches")


class Loaded:
    """A configuration, the files it came from, and who set each key that is not at its default."""

    __slots__ = ("config", "files", "sources")

    def __init__(self, config: Config) -> None:
        self.config = config
        self.files: list[str] = []
        self.sources: dict[str, str] = {}


def project_file(folder: str, top: str, main_top: str = "") -> str:
    """The project's file: the nearest from `folder` up to `top`, else the main checkout's; "" for none."""
    here = folder
    while True:
        candidate = os.path.join(here, PROJECT_FILE)
        if os.path.isfile(candidate):
            return candidate
        if here in (top, os.path.dirname(here)):
            break
        here = os.path.dirname(here)
    candidate = os.path.join(main_top, PROJECT_FILE)
    return candidate if main_top and os.path.isfile(candidate) else ""


def load(project: str = "", *, environ: Mapping[str, str] | None = None, user: str | None = None) -> Loaded:
    """Read and check all layers; `project` is the path of the project's file, or ""."""
    loaded = Loaded(Config())
    for path in (paths.config_file() if user is None else user, project):
        if path and os.path.exists(path):
            tables = read_file(path)
            if path == project:
                _refuse_permissions(tables.get("agents"), path)
                _refuse_user_only(tables, path)
            _merge(loaded, tables, path)
            loaded.files.append(path)
    _merge_environment(loaded, os.environ if environ is None else environ)
    return loaded


def read_file(path: str) -> dict[str, Any]:
    """The tables of a configuration file, unchecked."""
    try:
        return tables_of(path)
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise ConfigError(
            f"{path} is not valid TOML: {error}",
            hint="Mend that line, or move the file away to go back to the defaults.",
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _merge(loaded: Loaded, tables: dict[str, Any], path: str) -> None:
    for section, table in tables.items():
        if section == "agents":
            _merge_agents(loaded, table, path)
        elif section not in SECTIONS:
            raise _unknown(path, section, [*SECTIONS, "agents"])
        elif not isinstance(table, dict):
            raise ConfigError(f"{path}: `{section}` must be a section, written as [{section}]")
        else:
            _merge_section(loaded, getattr(loaded.config, section), section, table, path)


def _merge_agents(loaded: Loaded, table: Any, path: str) -> None:
    if not isinstance(table, dict) or not all(isinstance(v, dict) for v in table.values()):
        raise ConfigError(f"{path}: agents are sections, written as [agents.NAME]")
    for name, keys in table.items():
        agent = loaded.config.agents.setdefault(name, Agent())
        _merge_section(loaded, agent, f"agents.{name}", keys, path)
        if "command" in keys:
            agent.command = _command(agent.command, path)


def _refuse_permissions(agents: Any, path: str) -> None:
    """What agents may do without asking is for the user to say, not for a repository, which anyone may have made."""
    for name, keys in agents.items() if isinstance(agents, dict) else ():
        if isinstance(keys, dict) and "permissions" in keys:
            raise ConfigError(
                f"{path}: a project cannot set agents.{name}.permissions",
                code="project_permissions",
                hint=f"Set it in your own file, {paths.config_file()}, or say --permissions.",
            )


def _refuse_user_only(tables: dict[str, Any], path: str) -> None:
    for section in USER_ONLY:
        if section in tables:
            raise ConfigError(
                f"{path}: a project cannot set [{section}]",
                code="user_only",
                hint=f"Set it in your own file, {paths.config_file()}.",
            )


def _command(command: str, path: str) -> str:
    command = os.path.expanduser(command)
    if os.path.dirname(command) and not os.path.isabs(command):
        return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(path)), command))
    return command


def _merge_section(loaded: Loaded, target: Any, section: str, table: dict[str, Any], source: str) -> None:
    known = {f.name: f for f in fields(type(target))}
    for name, value in table.items():
        where = f"{section}.{name}"
        if name not in known:
            raise _unknown(source, where, [f"{section}.{k}" for k in known])
        checked = _checked(value, known[name].shape, known[name].metadata, where, source)
        if where == "hooks.on":
            _check_events(checked, source)
            loaded.sources.update({f"{where}.{event}": source for event in checked})
            checked = {**getattr(target, name), **checked}
        setattr(target, name, checked)
        loaded.sources[where] = source


def _check_events(commands: Mapping[str, str], source: str) -> None:
    from woodwind.model.event import KINDS  # for those who have such hooks

    for event in commands:
        if event not in KINDS:
            raise _unknown(source, f"hooks.on.{event}", [f"hooks.on.{kind}" for kind in KINDS])


def _checked(value: Any, current: Any, about: Mapping[str, Any], where: str, source: str) -> Any:
    """`value` when it has the type of `current` and is one of the choices."""
    wanted = ""
    if isinstance(current, bool) or isinstance(value, bool):
        wanted = "" if isinstance(current, bool) and isinstance(value, bool) else "true or false"
        if not isinstance(current, bool):
            wanted = _type_name(current)
    elif isinstance(current, list):
        if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            wanted = 'a list of texts, such as ["a", "b"]'
    elif isinstance(current, dict):
        if not (isinstance(value, dict) and all(isinstance(v, str) for v in value.values())):
            wanted = 'a table of texts, such as { NAME = "value" }'
    elif not isinstance(value, type(current)):
        wanted = _type_name(current)
    elif about["choices"] and value not in about["choices"]:
        wanted = "one of " + ", ".join(about["choices"])
    elif isinstance(value, int) and value < 0:
        wanted = "0 or more"
    elif where in _SIZES and value and parse_size(value) is None:
        wanted = 'a size such as "500 MB" or "20 GB"'
    if wanted:
        raise ConfigError(
            f"{source}: {where} must be {wanted}, found {value!r}",
            hint="`ww config show` lists the keys and their values.",
        )
    return value


def _type_name(current: Any) -> str:
    return "a whole number" if isinstance(current, int) else "a text"


def _unknown(source: str, where: str, known: list[str]) -> ConfigError:
    import difflib  # 2 ms, for a mistake only

    near = difflib.get_close_matches(where, known, 1, 0.4)
    hint = f"Did you mean `{near[0]}`?" if near else "Known here: " + ", ".join(known)
    return ConfigError(f"{source}: unknown key `{where}`", hint=hint, code="unknown_key")


def variable_for(section: str, name: str, about: Mapping[str, Any]) -> str:
    """The environment variable that sets a key."""
    return about["variable"] or f"WOODWIND_{section}_{name}".upper()


def _from_text(text: str, current: Any) -> Any:
    """The value that a variable's text stands for, where the key is of the type of `current`."""
    if isinstance(current, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if isinstance(current, int) and text.isdecimal():
        return int(text)
    if isinstance(current, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _merge_environment(loaded: Loaded, environ: Mapping[str, str]) -> None:
    for section in SECTIONS:
        target = getattr(loaded.config, section)
        for f in fields(type(target)):
            variable = variable_for(section, f.name, f.metadata)
            text = environ.get(variable, "")
            current = getattr(target, f.name)
            if not text or isinstance(current, dict):
                continue
            value = _from_text(text, current)
            where = f"{section}.{f.name}"
            setattr(target, f.name, _checked(value, current, f.metadata, where, f"${variable}"))
            loaded.sources[where] = f"${variable}"
