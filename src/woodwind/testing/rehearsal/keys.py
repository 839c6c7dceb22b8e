"""Terminal input as keys: bytes in any portions become text, pastes, Enter and control keys. Pure."""

from __future__ import annotations

import codecs
import re

# (kind, text). Kinds: text, paste, enter, backspace, kill, interrupt, end. Only the first two have text.
Key = tuple[str, str]

PASTE_START = b"\x1b[200~"
PASTE_END = b"\x1b[201~"
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
# A sequence ends early at a byte that cannot belong to it, so that Esc never swallows Ctrl-C or Enter.
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|(?=[^ -~]))"
    rb"|O(?:[ -~]|(?=[^ -~]))"
    rb"|[^\[O\x00-\x1f\x7f]|(?=[\x00-\x1f\x7f]))"
)
_KINDS = {
    b"\r": "enter",
    b"\n": "enter",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x15": "kill",
    b"\x03": "interrupt",
    b"\x04": "end",
}


class KeyReader:
    """Turns portions of input into keys, keeping what is incomplete for the next portion."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._paste: bytearray | None = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def in_escape(self) -> bool:
        """Whether an escape sequence has begun and not ended: it may also be the Esc key alone."""
        return self._paste is None and bool(self._rest)

    def drop_escape(self) -> None:
        """Forgets the incomplete sequence: nothing followed, so it was the Esc key, which means nothing."""
        self._rest.clear()

    def feed(self, data: bytes) -> list[Key]:
        """The keys that this portion completes."""
        self._rest += data
        keys: list[Key] = []
        while self._rest and (self._take_paste(keys) if self._paste is not None else self._take_key(keys)):
            pass
        return keys

    def _take_paste(self, keys: list[Key]) -> bool:
        assert self._paste is not None
        # The end marker may have been cut in two, so the search starts a little before the new portion.
        start = max(0, len(self._paste) - len(PASTE_END))
        self._paste += self._rest
        self._rest.clear()
        end = self._paste.find(PASTE_END, start)
        if end < 0:
            return False
        text = bytes(self._paste[:end]).decode("utf-8", "replace")
        self._rest += self._paste[end + len(PASTE_END) :]
        self._paste = None
        # tmux sends a pasted line end as a carriage return.
        keys.append(("paste", text.replace("\r\n", "\n").replace("\r", "\n")))
        return True

    def _take_key(self, keys: list[Key]) -> bool:
        control = _CONTROL.search(self._rest)
        length = control.start() if control else len(self._rest)
        if length:
            text = self._decode.decode(bytes(self._rest[:length]))
            if text:
                keys.append(("text", text))
            del self._rest[:length]
            return True
        if self._rest[0] == 0x1B:
            return self._take_escape()
        kind = _KINDS.get(bytes(self._rest[:1]))
        del self._rest[:1]
        if kind:
            keys.append((kind, ""))
        return True

    def _take_escape(self) -> bool:
        match = _SEQUENCE.match(self._rest)
        if match is None:
            return False
        if match[0] == PASTE_START:
            self._paste = bytearray()
        del self._rest[: match.end()]
        return True
