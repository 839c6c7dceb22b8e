"""A block of ours in somebody's file, between marks, so that taking it out leaves the file as it was."""

from woodwind.model.errors import Refused

# What was done besides: a line end was added before the block, or there was no file.
_CAUSES = {"": "", "line": " (with the line end before it)", "file": " (the file was made for it)"}


def _begin(name: str, cause: str) -> str:
    return f"# >>> woodwind {name}{_CAUSES[cause]} >>>\n"


def _end(name: str) -> str:
    return f"# <<< woodwind {name} <<<\n"


def put(text: str | None, name: str, body: str) -> str:
    """The file's text with the block in it, in place of an earlier one; None stands for a file that is not there."""
    found = _find(text or "", name)
    if text and found:
        _, inside, after, _ = found
        return text[:inside] + body + _end(name) + text[after:]
    cause = "file" if text is None else "line" if text and not text.endswith("\n") else ""
    before = f"{text}\n" if cause == "line" else text or ""
    return before + _begin(name, cause) + body + _end(name)


def drop(text: str, names: tuple[str, ...]) -> str | None:
    """The text without the blocks of these names; None when the file was made for them and holds nothing else."""
    made = False
    while blocks := [found for name in names if (found := _find(text, name))]:
        start, _, after, cause = max(blocks)
        if cause == "line" and after == len(text):
            start -= 1
        made = made or cause == "file"
        text = text[:start] + text[after:]
    return None if made and not text else text


def _find(text: str, name: str) -> tuple[int, int, int, str] | None:
    """(where the block starts, where its body does, where it has ended, its cause), or None."""
    for cause in _CAUSES:
        start = text.find(_begin(name, cause))
        if start < 0 or (start > 0 and text[start - 1] != "\n"):
            continue
        inside = start + len(_begin(name, cause))
        end = text.find(_end(name), inside)
        if end < 0:
            raise Refused(
                f"the block `woodwind {name}` has a beginning and no end",
                code="damaged_block",
                hint="Nothing was changed. Take it out by hand.",
            )
        return start, inside, end + len(_end(name)), cause
    return None
