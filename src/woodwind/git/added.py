"""What a worker added since it left its target: lines with their places, and the sizes of new blobs."""

import re
from collections.abc import Callable, Iterator

from woodwind.base.run import Done
from woodwind.model.critic import Line
from woodwind.model.review import unquoted

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,\d+)? @@")
_LONGEST_LINE = 2000
# Files above this are not looked into line by line.
_LONGEST_FILE = 2 << 20
GitCall = Callable[..., Done]


def added_lines(git: GitCall, base: str, tip: str) -> list[Line]:
    """Every line that `tip` has and `base` has not, binary and very large files left out."""
    words = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--unified=0", "--no-prefix")
    done = git("-c", f"core.bigFileThreshold={_LONGEST_FILE}", *words, "--submodule=short", base, tip, "--")
    return list(_parse(done.text))


def _parse(diff: str) -> Iterator[Line]:
    path, number, in_hunk = "", 0, False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            in_hunk = False
        elif not in_hunk and line.startswith("+++ "):
            path = unquoted(line[4:])
        elif hunk := _HUNK.match(line):
            number, in_hunk = int(hunk.group(1)), True
        elif in_hunk and line.startswith("+"):
            yield Line(path, number, line[1 : _LONGEST_LINE + 1])
            number += 1


def added_sizes(git: GitCall, base: str, tip: str) -> dict[str, int]:
    """The size of every file that `tip` has and `base` has not in that form."""
    raw = git("diff", "--raw", "-z", "--no-abbrev", "--no-renames", base, tip, "--").text.split("\0")
    blobs: dict[str, str] = {}
    for facts, path in zip(raw[::2], raw[1::2], strict=False):
        fields = facts.split(" ")
        if len(fields) >= 5 and fields[1] not in ("000000", "160000"):
            blobs[path] = fields[3]
    if not blobs:
        return {}
    lines = "".join(f"{blob}\n" for blob in blobs.values()).encode()
    sizes = git("cat-file", "--batch-check=%(objectsize)", input=lines).text.split("\n")
    return {path: int(size) for path, size in zip(blobs, sizes, strict=False) if size.isdigit()}
