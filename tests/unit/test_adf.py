"""Jira's rich text as Markdown: what is known has its form, what is not keeps its text."""

from typing import Any

import pytest

from woodwind.tickets.adf import to_markdown


def text(words: str, *marks: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "marks": [{"type": mark} for mark in marks]}


def node(kind: str, *content: dict[str, Any], **attrs: Any) -> dict[str, Any]:
    return {"type": kind, "content": list(content), "attrs": attrs}


def paragraph(words: str) -> dict[str, Any]:
    return node("paragraph", text(words))


def item(*content: dict[str, Any]) -> dict[str, Any]:
    return node("listItem", *content)


def row(kind: str, words: str) -> dict[str, Any]:
    return node("tableRow", node(kind, paragraph(words)))


ODD_MARKS = {"type": "text", "text": "a", "marks": [7, {"type": "odd"}]}
LINK = {"type": "text", "text": "here", "marks": [{"type": "link", "attrs": {"href": "https://x.example"}}]}
CASES: list[tuple[str, Any, str]] = [
    ("nothing", None, ""),
    ("a server's own text", "h1. Plain", "h1. Plain"),
    ("paragraphs", node("doc", paragraph("One"), paragraph("Two")), "One\n\nTwo"),
    ("heading", node("doc", node("heading", text("Head"), level=2)), "## Head"),
    ("heading of no level", node("doc", node("heading", text("Head"), level="x")), "# Head"),
    ("marks", node("doc", node("paragraph", text("a", "strong"), text("b", "em"), text("c", "code"))), "**a**_b_`c`"),
    ("link", node("doc", node("paragraph", LINK)), "[here](https://x.example)"),
    ("break", node("doc", node("paragraph", text("a"), node("hardBreak"), text("b"))), "a\nb"),
    (
        "list in a list",
        node("doc", node("bulletList", item(paragraph("a"), node("bulletList", item(paragraph("b")))))),
        "- a\n  - b",
    ),
    ("numbers", node("doc", node("orderedList", item(paragraph("a")), item(paragraph("b")))), "1. a\n2. b"),
    (
        "tasks",
        node("doc", node("taskList", node("taskItem", text("a"), state="DONE"), node("taskItem", text("b")))),
        "- [x] a\n- [ ] b",
    ),
    ("code", node("doc", node("codeBlock", text("x = 1\n```"), language="python")), "~~~~~~python\nx = 1\n```\n~~~~~~"),
    ("quotation", node("doc", node("blockquote", paragraph("a"), paragraph("b"))), "> a\n>\n> b"),
    ("panel", node("doc", node("panel", paragraph("Mind"), panelType="warning")), "> Mind"),
    ("rule", node("doc", paragraph("a"), {"type": "rule"}), "a\n\n---"),
    (
        "table",
        node("doc", node("table", row("tableHeader", "A|B"), row("tableCell", "1"))),
        "| A\\|B |\n|---|\n| 1 |",
    ),
    ("mention", node("doc", node("paragraph", text("Hi "), node("mention", text="@ann"))), "Hi @ann"),
    ("card", node("doc", node("paragraph", node("inlineCard", url="https://x.example"))), "https://x.example"),
    ("file", node("doc", node("mediaSingle", node("media", id="7", alt="shot.png"))), "[attachment: shot.png]"),
    ("expand", node("doc", node("expand", paragraph("inside"), title="More")), "**More**\n\ninside"),
    ("unknown block", node("doc", node("hologram", paragraph("kept"))), "kept"),
    ("unknown leaf", node("doc", {"type": "beam", "text": "kept"}), "kept"),
    ("unknown inside a line", node("doc", node("paragraph", text("a "), node("sparkle", text("kept")))), "a kept"),
    ("emoji", node("doc", node("paragraph", node("emoji", shortName=":smile:"))), ":smile:"),
    ("day", node("doc", node("paragraph", node("date", timestamp="1700000000000"))), "2023-11-14"),
    ("no day", node("doc", node("paragraph", node("date", timestamp="9" * 40))), "9" * 40),
    ("unknown with its text aside", node("doc", node("paragraph", node("beam", text="kept"))), "kept"),
    ("unknown block with its text aside", node("doc", node("extension", text="kept")), "kept"),
    (
        "code in a list",
        node("doc", node("bulletList", item(paragraph("a"), node("codeBlock", text("x\n\ny"))))),
        "- a\n  ```\n  x\n\n  y\n  ```",
    ),
    ("nonsense", {"type": "doc", "content": [3, None, {"content": "x"}, {"type": "heading", "attrs": 4}]}, "#"),
    ("a mark that is none", node("doc", node("paragraph", ODD_MARKS)), "a"),
]  # fmt: skip


@pytest.mark.parametrize("tree, wanted", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_rich_text_becomes_markdown(tree: Any, wanted: str) -> None:
    assert to_markdown(tree) == wanted


def test_text_however_deep_is_kept() -> None:
    tree = paragraph("the bottom")
    for _ in range(400):
        tree = node("blockquote", tree)
    assert "the bottom" in to_markdown(node("doc", tree))
