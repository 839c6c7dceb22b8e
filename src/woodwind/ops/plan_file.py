"""Plan files: read, and written."""

import os

from woodwind.base.files import write_atomic
from woodwind.model.errors import NotFound, Refused, UsageError
from woodwind.model.plan import Plan, parse_plan

_MOST = 4 << 20


def load_plan(path: str) -> Plan:
    """The plan in a file; an error that names the file and the line."""
    return parse_plan(read_text(path), path)


def read_text(path: str) -> str:
    """The text of a plan file."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder, not a plan file") from None
    except OSError as error:
        raise NotFound(
            f"the plan {path} cannot be read: {error.strerror}",
            hint='Write one, or let an agent do it: ww plan "What is to be reached"',
        ) from error
    if len(data) > _MOST:
        raise UsageError(f"the plan {path} is longer than {_MOST >> 20} MB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def save_plan(path: str, text: str, *, replace: bool = False) -> None:
    """Write a plan file; Refused when there is one already."""
    if os.path.lexists(path) and not replace:
        raise Refused(f"{path} is there already", code="file_exists", hint="Choose another name with --output.")
    write_atomic(os.path.abspath(path), text.encode(), mode=0o644)
