"""Requests to a tracker's REST interface: limited in time and size, with credentials for one host only."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, NamedTuple

from woodwind.model.errors import TimedOut
from woodwind.model.text import one_line
from woodwind.tickets.base import TicketError

MOST_BYTES = 16 << 20


class Reply(NamedTuple):
    """An answer: its status, what it holds when that is JSON, and where it would lead."""

    status: int
    data: Any
    location: str


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None  # the headers of a request hold the credentials, which another host must not get


def ask(method: str, url: str, authorization: str, timeout: float, body: Any = None) -> Reply:
    """The answer to one request, whatever its status; TimedOut and TicketError when there is none."""
    headers = {"Accept": "application/json", "Authorization": authorization, "User-Agent": "woodwind"}
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(_NoRedirects)
    host = urllib.parse.urlsplit(url).netloc.rpartition("@")[2]
    deadline = time.monotonic() + timeout
    try:
        try:
            with opener.open(request, timeout=timeout) as answer:
                return Reply(answer.status, _json(_read(answer, deadline)), "")
        except urllib.error.HTTPError as error:
            with error:
                location = error.headers.get("Location") or ""
                return Reply(error.code, _json(_read(error, deadline)), location)
    except TimeoutError:
        raise TimedOut(
            f"{host} did not answer within {timeout:g} seconds", hint="[tickets] timeout gives it more time."
        ) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise TimedOut(
                f"{host} did not answer within {timeout:g} seconds", hint="[tickets] timeout gives it more time."
            ) from None
        raise TicketError(
            f"{host} cannot be reached: {one_line(str(error.reason), 200)}",
            hint="Is the address right, and the network up?",
        ) from None
    except (OSError, HTTPException) as error:
        raise TicketError(f"{host} broke off its answer: {one_line(str(error), 200) or type(error).__name__}") from None


def _read(answer: IO[bytes], deadline: float) -> bytes:
    """The whole body; each piece has its own time limit, so the sum needs one, too."""
    data = bytearray()
    while chunk := answer.read1(1 << 16) if hasattr(answer, "read1") else answer.read(1 << 16):
        data += chunk
        if len(data) > MOST_BYTES:
            raise TicketError(f"the answer is larger than {MOST_BYTES >> 20} MB")
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(data)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
