"""Calls of ops from a screen: in a thread, with what came of it told in the event loop."""

from collections.abc import Callable
from typing import TypeVar

from textual.app import App
from textual.dom import DOMNode

from woodwind.model.errors import WoodwindError
from woodwind.ops.crash import explain

T = TypeVar("T")


def told(error: Exception) -> str:
    """An error as a person is told it: what went wrong and what to do; a bug is written to the log."""
    known = error if isinstance(error, WoodwindError) else explain(error)
    return "\n".join(filter(None, (known.message, known.hint)))


def from_thread(app: App[None], call: Callable[..., object], *args: object) -> None:
    """Make a call in the event loop, and wait for it; nothing where the app has ended."""
    if app.is_running:
        app.call_from_thread(call, *args)


def call(app: App[None], call: Callable[[], T], then: Callable[[T], object], failed: Callable[[str], object]) -> None:
    """Make a call in a thread; `then` gets what it returned, `failed` what is to be told of its failure."""

    def work() -> None:
        try:
            result = call()
        except Exception as error:  # noqa: BLE001 - a bug must not take the control plane down; it is told as one
            from_thread(app, failed, told(error))
            return
        from_thread(app, then, result)

    app.run_worker(work, thread=True)


def complain(node: DOMNode, words: str) -> None:
    """Tell a person of a failure, long enough to be read."""
    node.app.notify(words, severity="error", timeout=10, markup=False)
