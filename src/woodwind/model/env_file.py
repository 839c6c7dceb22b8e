"""Environment files: which names count as one, and the same text for another checkout."""

# What may stand before and after a folder's path for it to be that folder and no other.
_BEFORE = b" \t\r\n\"'=:,;([{<>|&`@"
_AFTER = b" \t\r\n\"'/:,;)]}<>|&`\\?#"


def is_env_file(name: str) -> bool:
    """Whether a file name is that of an environment file: .env, .env.local, .envrc, …"""
    return name.startswith(".env")


def rewrite(data: bytes, old: str, new: str) -> bytes:
    """`data` with the absolute path `old`, wherever it stands whole, replaced by `new`."""
    before, after = old.rstrip("/").encode(), new.rstrip("/").encode()
    if not before:
        return data
    out, at = bytearray(), 0
    while (found := data.find(before, at)) >= 0:
        end = found + len(before)
        # A path after a scheme (file:///src/app) begins behind two slashes.
        starts = found == 0 or data[found - 1] in _BEFORE or data[max(0, found - 2) : found] == b"//"
        whole = starts and (end == len(data) or data[end] in _AFTER)
        out += data[at:found] + (after if whole else before)
        at = end
    return bytes(out + data[at:])
