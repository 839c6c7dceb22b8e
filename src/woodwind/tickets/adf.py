"""Jira's rich text (Atlassian Document Format) as Markdown. Whatever is not known keeps its text; nothing raises."""

from datetime import UTC, datetime
from typing import Any

_DEEPEST = 60
_MARKS = {"strong": "**", "em": "_", "code": "`", "strike": "~~"}


def to_markdown(node: Any) -> str:
    """The Markdown for a document, for the text of older servers, and "" for nothing."""
    if isinstance(node, str):
        return node
    return _blocks(_children(node), 0).strip() if isinstance(node, dict) else ""


def _children(node: dict[str, Any]) -> list[dict[str, Any]]:
    content = node.get("content")
    return [child for child in content if isinstance(child, dict)] if isinstance(content, list) else []


def _attrs(node: dict[str, Any]) -> dict[str, Any]:
    attrs = node.get("attrs")
    return attrs if isinstance(attrs, dict) else {}


def _blocks(nodes: list[dict[str, Any]], depth: int, gap: str = "\n\n") -> str:
    parts: list[str] = []
    line = ""
    for node in nodes:
        if _is_inline(node):
            line += _inline(node, depth)
            continue
        parts += [line, _block(node, depth)]
        line = ""
    return gap.join(part for part in (*parts, line) if part.strip())


def _is_inline(node: dict[str, Any]) -> bool:
    return node.get("type") in _INLINE


def _block(node: dict[str, Any], depth: int) -> str:
    kind, attrs, inside = node.get("type"), _attrs(node), _children(node)
    if depth > _DEEPEST:
        return _plain(node)
    if kind == "heading":
        level = attrs.get("level")
        return "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + _line(inside, depth)
    if kind == "paragraph":
        return "".join(_inline(child, depth) if _is_inline(child) else _unknown(child) for child in inside)
    if kind == "codeBlock":
        code = _plain(node)
        mark = "```" if "```" not in code else "~~~~~~"
        return f"{mark}{_word(attrs.get('language'))}\n{code}\n{mark}"
    if kind == "rule":
        return "---"
    if kind in ("bulletList", "orderedList", "taskList", "decisionList"):
        return "\n".join(_item(child, n, str(kind), depth + 1) for n, child in enumerate(inside, 1))
    if kind in ("blockquote", "panel"):
        return "\n".join(f"> {line}".rstrip() for line in _blocks(inside, depth + 1).split("\n"))
    if kind == "table":
        return _table(inside, depth + 1)
    if kind in ("expand", "nestedExpand") and attrs.get("title"):
        return f"**{attrs['title']}**\n\n{_blocks(inside, depth + 1)}"
    if kind == "media":
        return f"[attachment: {attrs.get('alt') or attrs.get('id') or 'a file'}]"
    if kind == "blockCard" or kind == "embedCard":
        return str(attrs.get("url") or "")
    # Layouts, and whatever Jira invents next.
    own = str(node.get("text") or attrs.get("text") or "") if not inside else ""
    return own or _blocks(inside, depth + 1)


def _item(node: dict[str, Any], n: int, kind: str, depth: int) -> str:
    if node.get("type") in ("taskList", "bulletList", "orderedList"):  # a nested list that has no item around it
        return "\n".join(f"  {line}" for line in _block(node, depth).split("\n"))
    state = _attrs(node).get("state")
    mark = {"orderedList": f"{n}. ", "taskList": "- [x] " if state == "DONE" else "- [ ] "}.get(kind, "- ")
    lines = _blocks(_children(node), depth + 1, gap="\n").split("\n")
    indent = " " * (len(mark) if kind == "orderedList" else 2)
    return "\n".join([mark + lines[0], *((indent + line).rstrip() for line in lines[1:])])


def _table(rows: list[dict[str, Any]], depth: int) -> str:
    lines = []
    for n, row in enumerate(rows):
        cells = [" ".join(_blocks(_children(c), depth + 1).split()).replace("|", "\\|") for c in _children(row)]
        lines.append("| " + " | ".join(cells) + " |")
        if n == 0:
            lines.append("|" + "---|" * max(1, len(cells)))
    return "\n".join(lines)


def _line(nodes: list[dict[str, Any]], depth: int) -> str:
    return " ".join(_blocks(nodes, depth + 1).split())


def _text(node: dict[str, Any], depth: int) -> str:
    text = str(node.get("text") or "")
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) and text.strip() else ():
        if not isinstance(mark, dict):
            continue
        if mark.get("type") in _MARKS:
            sign = _MARKS[mark["type"]]
            text = f"{sign}{text}{sign}"
        elif mark.get("type") == "link" and _attrs(mark).get("href"):
            text = f"[{text}]({_attrs(mark)['href']})"
    return text


def _named(*keys: str) -> Any:
    return lambda node, depth: str(next((_attrs(node)[key] for key in keys if _attrs(node).get(key)), _plain(node)))


def _unknown(node: dict[str, Any]) -> str:
    """The text of a node inside a line that is none of the known ones, wherever it has it."""
    return _plain(node) or str(_named("text")(node, 0))


def _date(node: dict[str, Any], depth: int) -> str:
    """The day of a date, which is told in milliseconds; what is no such number stays as it is."""
    told = str(_attrs(node).get("timestamp") or "")
    try:
        return datetime.fromtimestamp(int(told) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return told or _plain(node)


_INLINE = {
    "text": _text,
    "hardBreak": lambda node, depth: "\n",
    "mention": _named("text"),
    "emoji": _named("text", "shortName"),
    "inlineCard": _named("url", "text"),
    "status": _named("text"),
    "date": _date,
    "mediaInline": lambda node, depth: "[attachment]",
    "placeholder": _named("text"),
}


def _inline(node: dict[str, Any], depth: int) -> str:
    return str(_INLINE[str(node["type"])](node, depth))


def _word(value: Any) -> str:
    return value if isinstance(value, str) and value.isalnum() else ""


def _plain(node: dict[str, Any]) -> str:
    """All text below a node, however deep."""
    out: list[str] = []
    rest = [node]
    while rest:
        here = rest.pop()
        if isinstance(here.get("text"), str):
            out.append(here["text"])
        rest.extend(reversed(_children(here)))
    return "".join(out)
