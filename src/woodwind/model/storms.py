"""Errors of the service behind an agent, told from those of the agent: a limit was reached, a server fails."""

import re

USAGE, API = "usage", "api"
_USAGE = re.compile(
    r"usage limit|rate.?limit|limit (?:was )?reached|too many requests|\b429\b|quota"
    r"|insufficient (?:credit|balance|funds)|credit balance|out of credits|billing|hit your limit|exceeded your",
    re.IGNORECASE,
)
_API = re.compile(
    r"api error|overloaded|internal server error|service unavailable|bad gateway|gateway time-?out|\b5[0-3]\d\b"
    r"|stream (?:error|disconnected|closed)|connection (?:error|reset|refused|closed)|econn(?:reset|refused)|etimedout"
    r"|enotfound|network (?:error|is unreachable)|fetch failed|socket hang up|could not reach|retries exhausted",
    re.IGNORECASE,
)
# A time in seconds since 1970, as in "usage limit reached|1767225600".
_RESETS = re.compile(r"\b(1[6-9]\d{8}|2\d{9})\b")


def storm_of(error: str) -> str:
    """usage, api, or "" when the error is the agent's own."""
    if _USAGE.search(error):
        return USAGE
    return API if _API.search(error) else ""


def back_at(error: str) -> int:
    """When the service says that it will be back, in milliseconds since 1970; 0 when it does not say."""
    found = _RESETS.search(error)
    return int(found[1]) * 1000 if found and storm_of(error) == USAGE else 0
