"""Completion scripts, made from the parsers; the names of workers are asked for when a key is pressed."""

from importlib import import_module

from woodwind.cli.parsing import build
from woodwind.cli.table import ALIASES, COMMANDS

SHELLS = ("bash", "zsh", "fish")


class Described:
    """A command for completion: its options, the choices of its first word, and whether it names workers."""

    def __init__(self, name: str) -> None:
        module = import_module(COMMANDS[name].module)
        parser = build(name, module)
        self.summary = COMMANDS[name].summary
        self.options = {o: a.help or "" for a in parser._actions for o in a.option_strings if o.startswith("--")}
        words = [a for a in parser._actions if not a.option_strings]
        # Where a word may also be something else, such as a file, argparse knows of no choices.
        self.choices = [str(c) for a in words for c in (a.choices or [])] or [*getattr(module, "OFFERED", ())]
        self.workers = any(a.metavar in ("NAME", "NAME TEXT") for a in words)


def described() -> dict[str, Described]:
    """All commands, and their aliases."""
    commands = {name: Described(name) for name in COMMANDS}
    return commands | {alias: commands[name] for alias, name in ALIASES.items()}


def script(shell: str) -> str:
    """The completion script for a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](described())


def _cases(commands: dict[str, Described]) -> str:
    """Shell lines that set $words to what may follow each command, and $names where workers may."""
    lines = []
    for name, command in commands.items():
        words = " ".join([*command.choices, *command.options])
        names = " names=1" if command.workers else ""
        lines.append(f"    {name}) words='{words}'{names} ;;")
    return "\n".join(lines)


def _bash(commands: dict[str, Described]) -> str:
    return f"""# bash completion for ww: source it, for example from ~/.bashrc
_ww() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words='' names=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{" ".join(commands)}'
  else
    case "${{COMP_WORDS[1]}}" in
{_cases(commands)}
    esac
    [ -n "$names" ] && [[ "$current" != -* ]] && words="$words $(ww __names 2>/dev/null)"
  fi
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _ww ww
"""


def _zsh(commands: dict[str, Described]) -> str:
    summaries = {name: _quoted(c.summary).replace(":", "\\:") for name, c in commands.items()}
    listed = "\n".join(f"    '{name}:{summary}'" for name, summary in summaries.items())
    return f"""#compdef ww
# zsh completion for ww: put it into a folder of $fpath as _ww, or source it after compinit
_ww() {{
  local words_of names=''
  if (( CURRENT == 2 )); then
    local -a commands=(
{listed}
    )
    _describe command commands
    return
  fi
  local words_typed="${{words[2]}}"
  words_of=''
  case "$words_typed" in
{_cases(commands).replace("words=", "words_of=")}
  esac
  [[ -n "$names" && "$PREFIX" != -* ]] && words_of="$words_of $(ww __names 2>/dev/null)"
  compadd -- ${{=words_of}}
  _files
}}
if [ "$funcstack[1]" = "_ww" ]; then _ww "$@"; else compdef _ww ww; fi
"""


def _fish(commands: dict[str, Described]) -> str:
    lines = ["# fish completion for ww: put it into ~/.config/fish/completions/ww.fish"]
    for name, command in commands.items():
        lines.append(f"complete -c ww -n __fish_use_subcommand -a {name} -f -d '{_quoted(command.summary)}'")
        seen = f"'__fish_seen_subcommand_from {name}'"
        for option, about in command.options.items():
            lines.append(f"complete -c ww -n {seen} -l {option[2:]} -d '{_quoted(about)}'")
        if command.choices:
            lines.append(f"complete -c ww -n {seen} -f -a '{' '.join(command.choices)}'")
        if command.workers:
            lines.append(f"complete -c ww -n {seen} -f -a '(ww __names 2>/dev/null)'")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """`text` for a single-quoted place in a script."""
    return text.replace("'", "’").replace("%%", "%")
