"""A difference by file and line, and comments on its lines. Pure."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from woodwind.model.text import clean

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$")
_KINDS = {"+": "added", "-": "removed", " ": "same"}


class DiffLine(NamedTuple):
    """A line of a difference; `old` and `new` are its numbers on either side, 0 where it is not there."""

    kind: str
    old: int
    new: int
    text: str


class Hunk(NamedTuple):
    """Lines that stand together; `where` is what git says they are in."""

    where: str
    lines: list[DiffLine]


class FileDiff(NamedTuple):
    """What changed in one file; `old_path` differs from `path` when it was renamed."""

    path: str
    old_path: str
    status: str
    binary: bool
    hunks: list[Hunk]

    @property
    def counts(self) -> tuple[int, int]:
        """(added, removed) lines."""
        kinds = [line.kind for hunk in self.hunks for line in hunk.lines]
        return kinds.count("added"), kinds.count("removed")

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        added, removed = self.counts
        hunks = [{"where": h.where, "lines": [line._asdict() for line in h.lines]} for h in self.hunks]
        return {
            "path": self.path,
            "old_path": self.old_path,
            "status": self.status,
            "binary": self.binary,
            "added": added,
            "removed": removed,
            "hunks": hunks,
        }


def parse_diff(diff: str) -> list[FileDiff]:
    """The files of a difference as `git diff --no-prefix` writes it."""
    files: list[FileDiff] = []
    old = new = 0
    in_hunk = False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            files.append(FileDiff(_half(line[11:]), "", "changed", False, []))
            in_hunk = False
        elif not files:
            continue
        elif hunk := _HUNK.match(line):
            old, new, in_hunk = int(hunk[1]), int(hunk[2]), True
            files[-1].hunks.append(Hunk(hunk[3], []))
        elif in_hunk and line[:1] in _KINDS:
            kind = _KINDS[line[0]]
            entry = DiffLine(kind, old * (kind != "added"), new * (kind != "removed"), line[1:])
            files[-1].hunks[-1].lines.append(entry)
            old, new = old + (kind != "added"), new + (kind != "removed")
        elif not in_hunk:
            files[-1] = _header(files[-1], line)
    return [file._replace(old_path=file.old_path or file.path) for file in files]


def _header(file: FileDiff, line: str) -> FileDiff:
    if line.startswith("new file"):
        return file._replace(status="added")
    if line.startswith("deleted file"):
        return file._replace(status="deleted")
    if line.startswith("rename from "):
        return file._replace(status="renamed", old_path=unquoted(line[12:]))
    if line.startswith("rename to "):
        return file._replace(path=unquoted(line[10:]))
    if line.startswith("Binary files "):
        return file._replace(binary=True)
    if line.startswith("--- ") and line != "--- /dev/null":
        return file._replace(path=unquoted(line[4:])) if not file.old_path else file
    if line.startswith("+++ ") and line != "+++ /dev/null":
        return file._replace(path=unquoted(line[4:]))
    return file


def _half(names: str) -> str:
    """The path of a `diff --git` line, which has it twice; a renamed one is told in the lines that follow."""
    return unquoted(names[: len(names) // 2])


def unquoted(name: str) -> str:
    """A path as diff headers write it: quoted when it has odd characters, followed by a tab when it has spaces."""
    name = name.removesuffix("\t")
    if len(name) > 1 and name.startswith('"') and name.endswith('"'):
        raw = name[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape", "replace")
        return raw.encode("latin-1", "replace").decode("utf-8", "replace")
    return name


class Comment(NamedTuple):
    """A remark on a line. `code` is the line as it was then; `now` where it stands by now, 0 when it is gone."""

    id: int
    path: str
    line: int
    code: str
    text: str
    now: int = 0

    @property
    def changed(self) -> bool:
        """Whether the line is not there any more as it was."""
        return self.now == 0

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**self._asdict(), "changed": self.changed}


def located(comment: Comment, lines: Sequence[str] | None) -> Comment:
    """The comment with where its line stands in a file now: the same place, or the only other one that has it."""
    if lines is None:
        return comment._replace(now=0)
    if 0 < comment.line <= len(lines) and lines[comment.line - 1] == comment.code:
        return comment._replace(now=comment.line)
    places = [n for n, line in enumerate(lines, 1) if line == comment.code]
    return comment._replace(now=places[0] if len(places) == 1 and comment.code.strip() else 0)


def message(comments: Sequence[Comment], branch: str) -> str:
    """All comments as one message, each with its place and the line that it is about."""
    lines = [f"Review of your work on {branch}: {len(comments)} comment{'' if len(comments) == 1 else 's'}.", ""]
    for number, comment in enumerate(comments, 1):
        place = f"{comment.path}:{comment.now or comment.line}"
        lines.append(f"{number}. {clean(place)}" + (" (this line has changed since)" if comment.changed else ""))
        lines.append(f"   > {clean(comment.code).strip()}")
        lines += [f"   {line}" for line in clean(comment.text).strip().splitlines()]
        lines.append("")
    return "\n".join([*lines, "Settle each of them, and say where you disagree."])
