"""The form for a new worker: what to do, by whom, from where."""

from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Select, TextArea

from woodwind.tui.dialogs import dialog_css

# What the user reads, and what comes before the number or key in a ticket's name.
SOURCES = {
    "my own words": "",
    "GitHub issue": "github",
    "GitHub pull request": "github-pr",
    "Jira ticket": "jira",
    "beads ticket": "beads",
}


class Wish(NamedTuple):
    """A filled-in form. `ticket` is such as github:7, or "" for a task in one's own words."""

    task: str
    ticket: str
    agent: str
    model: str
    template: str
    base: str


class NewWorker(ModalScreen[Wish | None]):
    """The form; None when it was given up."""

    AUTO_FOCUS = "TextArea"
    DEFAULT_CSS = (
        dialog_css("NewWorker")
        + """
    NewWorker TextArea { height: 6; }
    NewWorker Input, NewWorker Select { width: 2fr; }
    NewWorker .field { height: auto; align-horizontal: left; }
    NewWorker .field Label { width: 1fr; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "start", "start"),
        Binding("escape", "dismiss(None)", "cancel"),
    ]

    def __init__(self, agents: list[str], templates: list[str], wish: Wish | None = None) -> None:
        super().__init__()
        self._agents = agents
        self._templates = templates
        self._wish = wish or Wish("", "", "", "", "", "")  # what it is filled with at first

    def compose(self) -> ComposeResult:
        """A line for each thing that can be chosen."""
        wish = self._wish
        kind, _, number = wish.ticket.partition(":")
        source = next(name for name, before in SOURCES.items() if before == kind)
        with Vertical():
            yield Label("A new worker. What is it to do?", markup=False)
            yield TextArea(wish.task, compact=True, id="task")
            with Horizontal(classes="field"):
                yield Label("Source")
                yield Select(
                    [(name, name) for name in SOURCES],
                    value=source,
                    allow_blank=False,
                    compact=True,
                    id="source",
                )
            with Horizontal(classes="field"):
                yield Label("Its number or key")
                yield Input(
                    number, placeholder="for a ticket: 7, SHOP-12; what is above is added", compact=True, id="ticket"
                )
            with Horizontal(classes="field"):
                yield Label("Agent")
                yield self._select(self._agents, wish.agent, "as configured", "agent")
            with Horizontal(classes="field"):
                yield Label("Model")
                yield Input(wish.model, placeholder="as configured", compact=True, id="model")
            with Horizontal(classes="field"):
                yield Label("Template")
                yield self._select(self._templates, wish.template, "by the kind of task", "template")
            with Horizontal(classes="field"):
                yield Label("Base")
                yield Input(wish.base, placeholder="the default branch", compact=True, id="base")
            with Horizontal():
                yield Button("Cancel (Esc)", id="cancel", compact=True)
                yield Button("Start (Ctrl-S)", id="start", compact=True)

    @staticmethod
    def _select(names: list[str], chosen: str, prompt: str, id: str) -> Select[str]:
        value = chosen if chosen in names else Select.NULL
        return Select([(name, name) for name in names], prompt=prompt, value=value, compact=True, id=id)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Done, or given up."""
        if event.button.id == "start":
            self.action_start()
        else:
            self.dismiss(None)

    def action_start(self) -> None:
        """Hand the form in; it stays open while something is missing."""
        source = SOURCES[str(self.query_one("#source", Select).value)]
        number = self.query_one("#ticket", Input).value.strip()
        task = self.query_one("#task", TextArea).text.strip()
        if source and not number:
            self.notify("A ticket needs its number or key.", severity="warning")
        elif not source and not task:
            self.notify("Say what is to be done.", severity="warning")
        else:
            self.dismiss(
                Wish(
                    task=task,
                    ticket=f"{source}:{number}" if source else "",
                    agent=self._chosen("#agent"),
                    model=self.query_one("#model", Input).value.strip(),
                    template=self._chosen("#template"),
                    base=self.query_one("#base", Input).value.strip(),
                )
            )

    def _chosen(self, select: str) -> str:
        value = self.query_one(select, Select).value
        return value if isinstance(value, str) else ""
