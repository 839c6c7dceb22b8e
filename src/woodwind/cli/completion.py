"""Completion scripts, made from the parsers; names of workers and configured agents are asked for at the key."""

from argparse import Action
from importlib import import_module

from woodwind.agents.registry import BUILT_IN
from woodwind.cli.parsing import build
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.model.templates import TEMPLATES
from woodwind.ops.wait import OUTCOMES, STATUSES

SHELLS = ("bash", "zsh", "fish")
# What may follow an option that takes other words too, so that argparse knows of no choices.
_VALUES = {"--agent": BUILT_IN, "--template": TEMPLATES, "--for": (*OUTCOMES, *STATUSES)}


class Described:
    """A command for completion: its options, the choices of its first word, and whether it names workers or agents.

    `values` are the words that may follow an option which takes one; none where any word may.
    """

    def __init__(self, name: str) -> None:
        module = import_module(COMMANDS[name].module)
        parser = build(name, module)
        self.summary = COMMANDS[name].summary
        self.options = {o: a.help or "" for a in parser._actions for o in a.option_strings if o.startswith("--")}
        valued = [a for a in parser._actions if a.option_strings and a.nargs != 0]
        self.values = {option: _values(a) for a in valued for option in a.option_strings}
        words = [a for a in parser._actions if not a.option_strings]
        # Where a word may also be something else, such as a file, argparse knows of no choices.
        self.choices = [str(c) for a in words for c in (a.choices or [])] or [*getattr(module, "OFFERED", ())]
        self.workers = any(a.metavar in ("NAME", "NAME TEXT") for a in words)
        self.agents = any(a.metavar == "AGENT" for a in words)
        if self.agents:
            self.choices += BUILT_IN


def _values(option: Action) -> list[str]:
    known = [value for name in option.option_strings for value in _VALUES.get(name, ())]
    return [str(choice) for choice in option.choices or known]


def described() -> dict[str, Described]:
    """All commands, and their aliases."""
    commands = {name: Described(name) for name in COMMANDS}
    return commands | {alias: commands[name] for alias, name in ALIASES.items()}


def script(shell: str) -> str:
    """The completion script for a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](described())


def _cases(commands: dict[str, Described]) -> str:
    """Shell lines that set $offered to what may follow each command, and $ask to what `ww` is to be asked for."""
    lines = []
    for name, command in commands.items():
        ask = " ask=__names" if command.workers else " ask=__agents" if command.agents else ""
        lines.append(f"    {name}) offered='{' '.join([*command.choices, *command.options])}'{ask} ;;")
    return "\n".join(lines)


def _value_cases(commands: dict[str, Described]) -> str:
    """The same for what may follow an option that takes a value, which hides the rest."""
    lines: dict[str, list[str]] = {}
    for name, command in commands.items():
        for option, values in command.values.items():
            ask = "__agents" if option == "--agent" else ""
            lines.setdefault(f"offered='{' '.join(values)}' ask={ask} ;;", []).append(f"'{name} {option}'")
    return "\n".join(f"    {'|'.join(places)}) {line}" for line, places in lines.items())


def _bash(commands: dict[str, Described]) -> str:
    return f"""# bash completion for ww: source it, for example from ~/.bashrc
_ww() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" offered='' ask=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    offered='{" ".join(commands)}'
  else
    # Of --option=value, bash makes three words.
    [ "$before" = = ] && before="${{COMP_WORDS[COMP_CWORD-2]}}"
    [ "$current" = = ] && current=''
    case "${{COMP_WORDS[1]}}" in
{_cases(commands)}
    esac
    [[ "$current" == -* ]] && ask=''
    case "${{COMP_WORDS[1]}} $before" in
{_value_cases(commands)}
    esac
    [ -n "$ask" ] && offered="$offered $(ww "$ask" 2>/dev/null)"
  fi
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}}
complete -o default -F _ww ww
"""


def _zsh(commands: dict[str, Described]) -> str:
    summaries = {name: _quoted(c.summary).replace(":", "\\:") for name, c in commands.items()}
    listed = "\n".join(f"    '{name}:{summary}'" for name, summary in summaries.items())
    return f"""#compdef ww
# zsh completion for ww: put it into a folder of $fpath as _ww, or source it after compinit
_ww() {{
  local offered='' ask='' before="${{words[CURRENT-1]}}"
  if (( CURRENT == 2 )); then
    local -a commands=(
{listed}
    )
    _describe command commands
    return
  fi
  case "${{words[2]}}" in
{_cases(commands)}
  esac
  [[ "$PREFIX" == -* ]] && ask=''
  if [[ "$PREFIX" == --*=* ]]; then
    before="${{PREFIX%%=*}}" offered=''
    compset -P 1 '*='
  fi
  case "${{words[2]}} $before" in
{_value_cases(commands)}
  esac
  [[ -n "$ask" ]] && offered="$offered $(ww "$ask" 2>/dev/null)"
  # Files only where nothing else fits: a name that begins like a file would never be completed.
  compadd -- ${{=offered}} || _files
}}
if [ "$funcstack[1]" = "_ww" ]; then _ww "$@"; else compdef _ww ww; fi
"""


def _fish(commands: dict[str, Described]) -> str:
    lines = ["# fish completion for ww: put it into ~/.config/fish/completions/ww.fish"]
    for name, command in commands.items():
        lines.append(f"complete -c ww -n __fish_use_subcommand -a {name} -f -d '{_quoted(command.summary)}'")
        seen = f"'__fish_seen_subcommand_from {name}'"
        for option, about in command.options.items():
            values = command.values.get(option)
            asked = " (ww __agents 2>/dev/null)" if option == "--agent" else ""
            value = "" if values is None else f" -x -a '{' '.join(values)}{asked}'" if values else " -r"
            lines.append(f"complete -c ww -n {seen} -l {option[2:]}{value} -d '{_quoted(about)}'")
        if command.choices:
            lines.append(f"complete -c ww -n {seen} -f -a '{' '.join(command.choices)}'")
        if command.workers:
            lines.append(f"complete -c ww -n {seen} -f -a '(ww __names 2>/dev/null)'")
        if command.agents:
            lines.append(f"complete -c ww -n {seen} -f -a '(ww __agents 2>/dev/null)'")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """`text` for a single-quoted place in a script."""
    return text.replace("'", "’").replace("%%", "%")
