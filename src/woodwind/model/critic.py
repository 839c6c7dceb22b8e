"""What a careful colleague would look at before work lands or goes away: small checks over facts."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

VERBS = ("ship", "merge", "delete")
BLOCK, WARN, OFF = "block", "warn", "off"


class Line(NamedTuple):
    """A line that the worker added."""

    path: str
    number: int
    text: str


class Facts(NamedTuple):
    """All that the checks look at. `ahead` counts commits that the target has not.

    `put_away` is what only a removal looks at: work that is nowhere else, and who is at work in the folder.
    """

    verb: str
    target: str = ""
    uncommitted: Sequence[str] = ()
    untracked: Sequence[str] = ()
    conflicted: Sequence[str] = ()
    under_way: str = ""
    ahead: int = 0
    added: Sequence[Line] = ()
    sizes: Mapping[str, int] = {}
    collides_with: Sequence[tuple[str, str]] = ()
    put_away: Sequence[str] = ()
    large_size: int = 20 << 20


class Finding(NamedTuple):
    """One thing that a check found. `level` is what the configuration makes of it."""

    check: str
    level: str
    message: str
    path: str = ""
    line: int = 0

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        return self._asdict()


# Only what has a form of its own: a word like "password" beside a text says nothing.
_SECRETS = [
    (name, re.compile(pattern))
    for name, pattern in (
        ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("a Slack token", r"\bxox[abeprs]-[0-9A-Za-z-]{20,}"),
        ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        ("an Anthropic key", r"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{30,}"),
        ("an OpenAI key", r"\bsk-(?:proj-)?[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}"),
        ("a Stripe live key", r"\b[rs]k_live_[0-9A-Za-z]{24,}\b"),
        ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("a PyPI token", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}"),
    )
]
_SAMPLE = re.compile(r"EXAMPLE|example|XXXX|xxxx|0000000000|1234567890")
_MARKER = re.compile(r"(?:<{7}|>{7}|\|{7}) \S|(?:<{7}|>{7})$")
_SCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte")
# (name, pattern, file endings)
_DEBUG = [
    (name, re.compile(pattern), endings)
    for name, pattern, endings in (
        ("a breakpoint", r"^\s*(?:breakpoint\(\)|(?:import )?i?pdb(?:\.set_trace\(\))?\s*(?:;|$))", (".py",)),
        ("a breakpoint", r"\bi?pdb\.set_trace\(\)", (".py",)),
        ("a breakpoint", r"^\s*debugger;?\s*$", _SCRIPT),
        ("a breakpoint", r"^\s*(?:binding\.(?:pry|irb)|byebug)\s*$", (".rb",)),
        ("debug output", r"\bdbg!\(", (".rs",)),
        ("debug output", r"^\s*console\.(?:debug|trace)\(", _SCRIPT),
        ("debug output", r"^\s*(?:var_dump|dd)\(", (".php",)),
        ("a test that silences the others", r"^\s*(?:describe|it|test)\.only\(|^\s*(?:fdescribe|fit)\(", _SCRIPT),
        ("a note not to commit it", r"\b(?:DO NOT COMMIT|DONOTCOMMIT|NOCOMMIT)\b", ()),
    )
]


def _shown(paths: Sequence[str], most: int = 3) -> str:
    return ", ".join(paths[:most]) + (", …" if len(paths) > most else "")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def overlaps(facts: Facts) -> list[Finding]:
    """Collisions that the forecast shows, with the target and with other workers."""
    return [Finding("overlaps", WARN, f"it collides with {who} in {files}") for who, files in facts.collides_with]


def uncommitted(facts: Facts) -> list[Finding]:
    """Work that is not committed, except where it is about to be."""
    if facts.verb != "merge":
        return []  # shipping commits it
    kinds = (("changed", facts.uncommitted), ("untracked", facts.untracked))
    return [
        Finding("uncommitted", BLOCK, f"{_counted(len(paths), f'{what} file')} ({_shown(paths)})")
        for what, paths in kinds
        if paths
    ]


def empty(facts: Facts) -> list[Finding]:
    """Nothing to land."""
    if facts.ahead:
        return []
    if facts.verb == "ship" and (facts.uncommitted or facts.untracked):
        return []
    return [Finding("empty", BLOCK, f"it has nothing that {facts.target or 'its base'} has not")]


def unmerged(facts: Facts) -> list[Finding]:
    """Files in conflict, a merge or rebase under way; for a removal, work that is nowhere else."""
    found = []
    if facts.verb == "delete":
        return [Finding("unmerged", BLOCK, reason) for reason in facts.put_away]
    if facts.conflicted:
        found.append(Finding("unmerged", BLOCK, f"files are in conflict: {_shown(facts.conflicted)}"))
    if facts.under_way:
        found.append(Finding("unmerged", BLOCK, f"a merge, rebase or the like is not finished ({facts.under_way})"))
    return found


def markers(facts: Facts) -> list[Finding]:
    """Conflict markers that were left in a file: both ends of one, or one that names its side."""
    found = [line for line in facts.added if _MARKER.match(line.text)]
    return [Finding("markers", BLOCK, f"a conflict marker: {line.text[:20]}", line.path, line.number) for line in found]


def secrets(facts: Facts) -> list[Finding]:
    """Keys and tokens; what they are is never repeated."""
    found = []
    for line in facts.added:
        for name, pattern in _SECRETS:
            match = pattern.search(line.text)
            if match and not _SAMPLE.search(match.group()):
                found.append(Finding("secrets", BLOCK, f"what looks like {name}", line.path, line.number))
                break
    return found


def large(facts: Facts) -> list[Finding]:
    """Files that a repository would carry for ever."""
    big = sorted((path, size) for path, size in facts.sizes.items() if size > facts.large_size > 0)
    return [Finding("large", BLOCK, f"a file of {size / (1 << 20):.0f} MB", path) for path, size in big]


def debug(facts: Facts) -> list[Finding]:
    """Breakpoints, debug output and the like that was left in."""
    found = []
    for line in facts.added:
        for name, pattern, endings in _DEBUG:
            if (not endings or line.path.endswith(endings)) and pattern.search(line.text):
                found.append(Finding("debug", WARN, name, line.path, line.number))
                break
    return found


CHECKS: dict[str, Callable[[Facts], list[Finding]]] = {
    "overlaps": overlaps,
    "uncommitted": uncommitted,
    "empty": empty,
    "unmerged": unmerged,
    "markers": markers,
    "secrets": secrets,
    "large": large,
    "debug": debug,
}


def criticise(facts: Facts, levels: Mapping[str, str]) -> list[Finding]:
    """What all checks find, each at the level that `levels` gives it; blocking ones first.

    No level lets a removal put away what is nowhere else: that takes a flag of the command.
    """
    if facts.verb == "delete":
        return unmerged(facts)
    found = [
        finding._replace(level=levels.get(name) or finding.level)
        for name, check in CHECKS.items()
        if levels.get(name) != OFF
        for finding in check(facts)
    ]
    return sorted(found, key=lambda finding: finding.level != BLOCK)


# After so many times that the critic said no, a person has to look at it.
MOST_IN_A_ROW, MOST_IN_ALL = 3, 20


def needs_person(in_a_row: int, in_all: int) -> bool:
    """Whether a worker, or a project, was denied so often that a person is asked."""
    return in_a_row >= MOST_IN_A_ROW or in_all >= MOST_IN_ALL
