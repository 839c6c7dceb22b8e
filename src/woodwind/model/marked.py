"""Text of ours in files of the user's: a block between marks, and whole files that tell whether they were changed.

Whatever was put in can be taken out again so that the file is, byte for byte, what it was.
"""

from woodwind.model.errors import Refused

BEGIN = b"<!-- woodwind:begin"
END = b"<!-- woodwind:end -->"
_SEAL = "woodwind: made by ww init, "


def with_block(data: bytes | None, text: str) -> bytes:
    """A file's bytes with the block at its end; None for a file that is not there yet."""
    end = b"\r\n" if data and b"\r\n" in data else b"\n"
    lines = text.strip().encode().replace(b"\n", end)
    if data is None:
        how, before, data = b" new", b"", b""
    elif not data:
        how, before = b" first", b""
    elif data.endswith(b"\n"):
        how, before = b"", end
    else:
        how, before = b" joined", end + end
    return data + before + BEGIN + how + b" -->" + end + lines + end + END + end


def without_block(data: bytes, path: str) -> bytes | None:
    """The bytes without the block, as they were before it; None when the file was made for it and has nothing else."""
    start = data.find(BEGIN)
    stop = data.find(END, start)
    if start < 0:
        return data
    close = data.find(b"-->", start)
    if stop < 0 or data.find(BEGIN, start + 1) >= 0 or not start < close < stop:
        raise Refused(
            f"the marks of Woodwind's block in {path} are damaged",
            code="marks_damaged",
            hint="Mend or remove them by hand: one begin, one end.",
        )
    how = data[start + len(BEGIN) : close].strip()
    before, after = data[:start], data[stop + len(END) :]
    end = b"\r\n" if after.startswith(b"\r\n") else b"\n"
    after = after.removeprefix(end)
    for _ in range({b"": 1, b"joined": 2}.get(how, 0)):  # the line ends that were put before it
        before = before.removesuffix(end)
    rest = before + after
    return None if how == b"new" and not rest else rest


def has_block(data: bytes) -> bool:
    """Whether the block is in there."""
    return BEGIN in data


def sealed(text: str, *, comment: tuple[str, str] = ("<!-- ", " -->")) -> bytes:
    """A whole file of ours, with a last line that tells later whether somebody changed it."""
    body = text.rstrip("\n") + "\n"
    return f"{body}{comment[0]}{_SEAL}{_sum(body)}{comment[1]}\n".encode()


def is_unchanged(data: bytes) -> bool:
    """Whether a file is one of ours, just as it was written."""
    body, _, seal = data.decode("utf-8", "replace").rstrip("\n").rpartition("\n")
    return f"{_SEAL}{_sum(body + chr(10))}" in seal


def without_seal(text: str) -> str:
    """A file's text without the line that tells whether it was changed."""
    return "".join(line for line in text.splitlines(keepends=True) if _SEAL not in line)


def _sum(text: str) -> str:
    import hashlib  # 3 ms, and every brief looks for the seal

    return hashlib.sha256(text.encode()).hexdigest()[:16]
