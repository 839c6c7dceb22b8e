"""What a person is asked: yes or no, a text, an answer to an agent's question."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Label, Static, TextArea

_CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 80%; max-width: 100; min-width: 36; height: auto; max-height: 90%;
    padding: 0 1; border: round $accent; background: $surface; overflow-y: auto;
}}
{name} Horizontal {{ height: auto; align-horizontal: right; }}
{name} Button {{ margin: 0 1; min-width: 10; height: 1; border: none; }}
{name} Label {{ width: 1fr; }}
{name} VerticalScroll {{ height: auto; max-height: 20; }}
"""


def dialog_css(name: str) -> str:
    """How every dialog looks, for the one with this class name."""
    return _CSS.format(name=name)


class Confirm(ModalScreen[bool]):
    """A question whose answer is no unless somebody says yes: Enter means no."""

    AUTO_FOCUS = "#no"
    DEFAULT_CSS = dialog_css("Confirm")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape", "dismiss(False)", "no"),
        Binding("left,right,tab", "app.focus_next", show=False),
    ]

    def __init__(self, question: str, detail: str = "") -> None:
        super().__init__()
        self._question = question
        self._detail = detail

    def compose(self) -> ComposeResult:
        """The question, what it means, and two buttons."""
        with Vertical():
            yield Label(self._question, markup=False, id="question")
            if self._detail:
                with VerticalScroll():
                    yield Static(self._detail, markup=False)
            with Horizontal():
                yield Button("No (n)", id="no", compact=True)
                yield Button("Yes (y)", id="yes", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The answer."""
        self.dismiss(event.button.id == "yes")


class Write(ModalScreen[str]):
    """A text of several lines; "" when it was given up."""

    AUTO_FOCUS = "TextArea"
    DEFAULT_CSS = dialog_css("Write") + "Write TextArea { height: auto; min-height: 4; max-height: 12; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "send", "send"),
        Binding("escape", "dismiss('')", "cancel"),
    ]

    def __init__(self, title: str, text: str = "", verb: str = "Send") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._verb = verb

    def compose(self) -> ComposeResult:
        """A title, an editor and its two ends."""
        with Vertical():
            yield Label(self._title, markup=False)
            yield TextArea(self._text, compact=True, id="text")
            with Horizontal():
                yield Button("Cancel (Esc)", id="cancel", compact=True)
                yield Button(f"{self._verb} (Ctrl-S)", id="send", compact=True)

    def action_send(self) -> None:
        """Done writing."""
        self.dismiss(self.query_one(TextArea).text.strip())

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Done, or given up."""
        if event.button.id == "send":
            self.action_send()
        else:
            self.dismiss("")


class Answer(ModalScreen[str]):
    """An agent's question and what can be answered: allow, always, deny or a text; "" when it is left open.

    Nothing is allowed by pressing Enter too early.
    """

    AUTO_FOCUS = "TextArea"
    DEFAULT_CSS = (
        dialog_css("Answer")
        + """
    Answer TextArea { height: 4; }
    Answer.-narrow > Vertical, Answer.-tiny > Vertical { width: 95%; }
    Answer.-tiny Horizontal { layout: vertical; }
    """
    )
    # So that all four answers are seen.
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (80, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "text", "send the text"),
        Binding("ctrl+y", "dismiss('allow')", "allow", priority=True),
        Binding("ctrl+l", "dismiss('always')", "always", priority=True),
        Binding("ctrl+n", "dismiss('deny')", "deny", priority=True),
        Binding("escape", "dismiss('')", "leave it open"),
    ]

    def __init__(self, name: str, question: str) -> None:
        super().__init__()
        self._name = name
        self._question = question

    def compose(self) -> ComposeResult:
        """The question, three answers and room for another."""
        with Vertical():
            yield Label(f"{self._name} asks:", markup=False)
            with VerticalScroll():
                yield Static(self._question, markup=False)
            with Horizontal():
                yield Button("Leave it (Esc)", id="leave", compact=True)
                yield Button("Deny (Ctrl-N)", id="deny", compact=True)
                yield Button("Always (Ctrl-L)", id="always", compact=True)
                yield Button("Allow (Ctrl-Y)", id="allow", compact=True)
            yield Label("Or in words (Ctrl-S sends):", markup=False)
            yield TextArea(compact=True, id="words")

    def action_text(self) -> None:
        """The words that were written."""
        self.dismiss(self.query_one(TextArea).text.strip())

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One of the three, or none."""
        self.dismiss("" if event.button.id == "leave" else event.button.id or "")


class Tell(ModalScreen[None]):
    """A text to read."""

    DEFAULT_CSS = dialog_css("Tell") + "Tell VerticalScroll { max-height: 80vh; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "close")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text under its title."""
        with Vertical():
            yield Label(self._title, markup=False)
            with VerticalScroll():
                yield Static(self._text, markup=False)
            with Horizontal():
                yield Button("Close (Esc)", compact=True)

    def on_button_pressed(self) -> None:
        """Read."""
        self.dismiss()
