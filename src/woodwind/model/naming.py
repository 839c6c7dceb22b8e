"""Names made from a task: the branch, and the worker's short name."""

import unicodedata

from woodwind.model.errors import UsageError
from woodwind.model.text import clean, one_line

MAX_WORDS = 6
MAX_LENGTH = 50
NAME_WORDS = 3

_KINDS = {
    "fix": "fix fixes bug bugfix hotfix repair crash crashes broken correct resolve regression error errors",
    "docs": "docs doc document documentation readme changelog comment comments typo",
    "test": "test tests testing coverage spec specs",
    "refactor": "refactor refactoring rename simplify restructure extract clean cleanup rewrite move split",
    "chore": "chore bump upgrade update ci release build configure dependencies deps",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_FILLER = frozenset(
    "a an the to of in on at by for with and or from into as is are be it its this that these those we our i my "
    "please can could should would must need needs want you your so just some".split()
)


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case: runs of letters, digits and their marks, in any script."""
    words: list[str] = []
    current: list[str] = []
    for ch in unicodedata.normalize("NFC", text):
        if ch.isalnum() or (current and unicodedata.category(ch) in ("Mn", "Mc")):
            current.append(ch)
        elif ch in "'’":
            continue
        elif current:
            words.append("".join(current))
            current = []
    if current:
        words.append("".join(current))
    return [w.lower() for w in words]


def kind_of(task: str) -> str:
    """feat, fix, docs, refactor, test or chore: by the first telling word of the task."""
    words = words_of(one_line(task, 400))
    for word in words[:4]:
        if word in _KIND_OF:
            return _KIND_OF[word]
    return "feat"


def slug(task: str, *, most_words: int = MAX_WORDS, longest: int = MAX_LENGTH) -> str:
    """A name of at most `most_words` words and `longest` characters, or "" when the task has no word."""
    words = words_of(one_line(task, 400))
    telling = [w for w in words if w not in _FILLER] or words
    out = ""
    for word in telling[:most_words]:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest or len(longer.encode()) > 120:
            break
        out = longer
    if not out and telling:
        out = _cut(telling[0], longest)
    return out


def _cut(word: str, longest: int) -> str:
    word = word[:longest]
    while len(word.encode()) > 120:
        word = word[:-1]
    return word


def branch_for(task: str, *, prefix: str | None = None) -> str:
    """The branch name for a task; `prefix` replaces the kind ("" for none)."""
    lead = kind_of(task) if prefix is None else prefix.strip("/")
    room = MAX_LENGTH - (len(lead) + 1 if lead else 0)
    words = words_of(one_line(task, 400))
    body = slug(" ".join(words[1:]) if len(words) > 1 and words[0] == lead else task, longest=max(room, 8)) or "task"
    return f"{lead}/{body}" if lead else body


def name_for(task: str) -> str:
    """The worker's name for a task: at most three words."""
    return slug(task, most_words=NAME_WORDS, longest=40) or "task"


def numbered(name: str, n: int) -> str:
    """The n-th candidate for a taken name: name, name-2, name-3, …"""
    return name if n <= 1 else f"{name}-{n}"


def key(name: str) -> str:
    """What makes two names the same: file systems and people ignore case and composition."""
    return unicodedata.normalize("NFC", name).casefold()


def ascii_slug(text: str, fallback: str) -> str:
    """`text` as ASCII letters, digits and hyphens, for places that interpret other characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    parts = "".join(c if c.isalnum() else " " for c in plain).split()
    return "-".join(parts)[:MAX_LENGTH].strip("-").lower() or fallback


def check_name(name: str) -> str:
    """`name` if it may name a worker; an error that says why otherwise."""
    why = ""
    if not name:
        why = "it is empty"
    elif len(name) > 60 or len(name.encode("utf-8", "replace")) > 200:
        why = "it is longer than 60 characters"
    elif name[0] in "-." or name.endswith((".", ".lock")):
        why = "it begins with - or ., or ends with . or .lock"
    elif any(not (c.isalnum() or c in "-_." or unicodedata.category(c) in ("Mn", "Mc")) for c in name):
        why = "only letters, digits, '-', '_' and '.' may be in it"
    if why:
        raise UsageError(
            f"{one_line(name, 60)!r} cannot be a worker's name: {why}", hint="Try for example: --name fix-login"
        )
    return name


def check_branch(branch: str) -> str:
    """`branch` if git's rules for branch names allow it; an error that says why otherwise."""
    bad = ""
    if not branch or branch in ("@", "HEAD"):
        bad = "it is empty" if not branch else "git reserves it"
    elif branch.startswith("-"):
        bad = "it begins with -"
    elif len(branch.encode("utf-8", "replace")) > 200:
        bad = "it is longer than 200 bytes"
    elif any(ord(c) < 33 or c in "~^:?*[\\\x7f" for c in branch):
        bad = "it has a space, a control character or one of ~ ^ : ? * [ \\"
    elif clean(branch) != branch:
        bad = "it has a control character or one that changes the direction of text"
    elif ".." in branch or "@{" in branch or "//" in branch:
        bad = "it has '..', '@{' or '//'"
    elif branch.endswith(".") or any(p.startswith(".") or p.endswith(".lock") or not p for p in branch.split("/")):
        bad = "it ends with '.', or a part of it is empty, begins with '.', or ends with '.lock'"
    if bad:
        raise UsageError(
            f"{one_line(branch, 80)!r} cannot be a branch name: {bad}", hint="See: git help check-ref-format"
        )
    return branch
