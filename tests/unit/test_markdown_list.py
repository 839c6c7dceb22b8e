"""Check-lists: which lines are items, and that an edit changes nothing else."""

from pathlib import Path

import pytest

from woodwind.model.errors import UsageError
from woodwind.tickets.base import NoTicket, TicketError
from woodwind.tickets.markdown import Markdown

LIST = b"""# Plan
Some words.

## Web shop
- [ ] Fix the login crash
  Only on phones.
  - [ ] Find the cause
  - [x] Ask support
* [ ] Add a greeting\r
1. [/] Translate

```
- [ ] not an item
```
## Later
- [ ] Add a greeting
- [] nothing
- [ ]
"""


@pytest.fixture
def todo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Markdown:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "TODO.md").write_bytes(LIST)
    (tmp_path / "TODO.md").chmod(0o664)
    return Markdown(str(tmp_path), {}, "TODO.md")


def test_items_have_ids_from_their_words_and_belong_to_their_heading(todo: Markdown) -> None:
    crash = todo.fetch("fix-login-crash")
    assert (crash.title, crash.body, crash.kind, crash.parent) == (
        "Fix the login crash", "Only on phones.\n- [ ] Find the cause\n- [x] Ask support", "epic", "web-shop",
    )  # fmt: skip
    assert todo.fetch("add-greeting-2").parent == "later"
    assert todo.fetch("find-cause").parent == "fix-login-crash"
    assert crash.origin == "markdown:TODO.md#fix-login-crash"
    assert crash.name == "fix-login-crash in TODO.md"


def test_what_stands_below_an_item_keeps_its_form(todo: Markdown) -> None:
    Path(todo.path).write_bytes(b"- [ ] Mend it\r\n  ```\r\n  if x:\r\n      y()\r\n  ```\r\n\n\tLast\n- [ ] Next\n")
    assert todo.fetch("mend").body == "```\nif x:\n    y()\n```\n\n  Last"


def test_ready_are_the_open_leaves_of_an_epic(todo: Markdown) -> None:
    assert [t.id for t in todo.ready("")] == ["find-cause", "add-greeting", "add-greeting-2"]
    assert [t.id for t in todo.ready("web-shop")] == ["find-cause", "add-greeting"]
    assert [t.id for t in todo.ready("Web shop")] == ["find-cause", "add-greeting"]
    assert [t.id for t in todo.ready("fix-login-crash")] == ["find-cause"]
    assert todo.fetch("Add a greeting").id == "add-greeting"
    with pytest.raises(NoTicket) as error:
        todo.ready("nowhere")
    assert "There are: web-shop, fix-login-crash, find-cause" in error.value.hint


def test_claiming_and_closing_change_one_byte_each(todo: Markdown) -> None:
    path = Path(todo.path)
    todo.claim("add-greeting")
    assert path.read_bytes() == LIST.replace(b"* [ ] Add", b"* [/] Add")
    with pytest.raises(TicketError) as taken:
        todo.claim("add-greeting")
    assert taken.value.code == "already_claimed"
    todo.close("add-greeting", "")
    assert path.read_bytes() == LIST.replace(b"* [ ] Add", b"* [x] Add")
    assert path.stat().st_mode & 0o777 == 0o664
    with pytest.raises(TicketError):
        todo.close("add-greeting", "")


def test_progress_is_a_line_below_the_item_and_its_notes(todo: Markdown) -> None:
    todo.progress("fix-login-crash", "half [ ] way\nthere")
    assert b"  - [x] Ask support\n  - half ( ) way\n* [ ]" in Path(todo.path).read_bytes()
    todo.close("add-greeting", "done")
    assert b"* [x] Add a greeting\r\n  - done\r\n1. [/]" in Path(todo.path).read_bytes()
    assert len(todo.ready("")) == 2


def test_a_last_line_without_an_end_gets_one(todo: Markdown) -> None:
    Path(todo.path).write_bytes(b"- [ ] Only one")
    todo.close("only-one", "done")
    assert Path(todo.path).read_bytes() == b"- [x] Only one\n  - done\n"


def test_a_link_to_a_list_stays_a_link(todo: Markdown, tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to("TODO.md")
    Markdown(str(tmp_path), {}, "link.md").claim("add-greeting")
    assert (tmp_path / "link.md").is_symlink()
    assert b"* [/] Add" in (tmp_path / "TODO.md").read_bytes()


def test_what_is_not_there_is_said(todo: Markdown, tmp_path: Path) -> None:
    with pytest.raises(NoTicket, match="no item 'nothing'") as found:
        todo.fetch("nothing")
    assert found.value.hint == (
        "There are: fix-login-crash, find-cause, ask-support, add-greeting, translate, add-greeting-2"
    )
    with pytest.raises(NoTicket, match="'web-shop' is a heading of TODO") as heading:
        todo.fetch("web-shop")
    assert "--source markdown:TODO.md --epics web-shop" in heading.value.hint
    with pytest.raises(NoTicket, match="cannot be read"):
        Markdown(str(tmp_path), {}, "none.md").fetch("x")
    with pytest.raises(UsageError):
        Markdown(str(tmp_path), {}).fetch("x")
