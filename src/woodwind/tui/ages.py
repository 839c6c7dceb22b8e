"""Spans of time in one short word, no finer than what is repainted."""


def age(seconds: float) -> str:
    """`now` for less than a minute, then minutes, hours and days."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"
