"""What `ww tmux` puts into a tmux configuration: keys behind one of their own, and a segment of the status line."""

import shlex
from collections.abc import Callable, Collection

_NEW = 'printf "Task: "; IFS= read -r task && [ -n "$task" ] && {ww} new -- "$task"'
# The key behind ours, the command that it needs ("" for none), what it runs, and what it is for.
_KEYS = (
    ("n", "next", "{ww} next", "go to whoever waits for you"),
    ("s", "tmux", "{ww} tmux pick", "choose a worker and go there"),
    ("c", "", "{ww}", "the control plane"),
    ("a", "new", _NEW, "start a worker"),
    ("p", "pause", "{ww} pause", "pause the worker of this folder"),
    ("r", "resume", "{ww} resume", "go on with the worker of this folder"),
    ("m", "merge", "{ww} merge", "merge the worker of this folder"),
)


def keys(key: str, ww: str, commands: Collection[str], quote: Callable[[str], str]) -> str:
    """The bindings: `key` behind the prefix, then one of ours; only for commands that there are."""
    lines = [f"bind-key -N {quote('Woodwind: wait for its key')} {quote(key)} switch-client -T woodwind"]
    for letter, command, words, note in _KEYS:
        if not command or command in commands:
            run = quote(popup_command(words.replace("{ww}", ww)))
            popup = f'display-popup -EE -w 90% -h 80% -d "#{{pane_current_path}}" {run}'
            lines.append(f"bind-key -T woodwind -N {quote('Woodwind: ' + note)} {letter} {popup}")
    return "".join(f"{line}\n" for line in lines)


def popup_command(words: str) -> str:
    """What a popup runs: it stays open on an error, to be read, but not after Ctrl-C. The user's shell may be any."""
    return "exec sh -c " + shlex.quote(f'trap "exit 0" INT; {words}')


def status(ww: str, quote: Callable[[str], str]) -> str:
    """The segment, added to the right side once, however often the file is read."""
    return (
        f"set-option -g @woodwind_status {quote(f'#({ww} __tmux-status)')}\n"
        "if-shell -F '#{m:*@woodwind_status*,#{status-right}}' '' "
        "\"set-option -ga status-right ' #{E:@woodwind_status}'\"\n"
        "if-shell -F '#{e|<:#{status-right-length},80}' 'set-option -g status-right-length 80'\n"
    )
