"""Sizes as people write them."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip


def parse_size(text: str) -> int | None:
    """Bytes for a text such as "20 GB", or None when it is not a size."""
    number = text.strip().rstrip("BKMGTIbkmgti ").strip()
    unit = text.strip()[len(number) :].strip().upper()
    try:
        size = float(number)
    except ValueError:
        return None
    return int(size * _UNITS[unit]) if unit in _UNITS and 0 <= size < 1e6 else None


def show_size(size: int) -> str:
    """Bytes as a short text such as "1.4 GB"."""
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
