"""Keys that are typed before what they are meant for is open: they wait for it, and are never a verb of some row."""

from collections import deque
from collections.abc import Awaitable, Callable
from weakref import WeakSet

from textual import events
from textual.app import App
from textual.screen import Screen

Typed = events.Key | events.Paste


class TypedAhead:
    """What was typed, in order. `take` gives one to whom it is for; it is called in the event loop of the app."""

    def __init__(self, app: App[None], take: Callable[[Typed], Awaitable[None]]) -> None:
        self._app = app
        self._take = take
        self._waiting: deque[Typed] = deque()
        self._expected = 0
        self._open: WeakSet[Screen[object]] = WeakSet()

    async def typed(self, event: Typed) -> None:
        """Take this now, or after all that came before it."""
        self._waiting.append(event)
        await self._go_on()

    def expect(self) -> None:
        """Something is about to open: what is typed from now on is for it. `came` or `came_not` has to follow."""
        self._expected += 1

    def came(self) -> None:
        """It is there and gets what was typed."""
        self._expected -= 1
        self._app.call_later(self._go_on)

    def came_not(self) -> None:
        """It will not be there: what was typed for it is forgotten."""
        self._waiting.clear()
        self.came()

    async def _go_on(self) -> None:
        while self._waiting and not self._expected and self._is_open(self._app.screen):
            await self._take(self._waiting.popleft())

    def _is_open(self, screen: Screen[object]) -> bool:
        """Whether a screen has its widgets and its focus; where it has not yet, we go on as soon as it has."""
        if screen in self._open or len(self._app.screen_stack) == 1:
            return True
        screen.call_later(self._opened, screen)  # after it was composed
        return False

    def _opened(self, screen: Screen[object]) -> None:
        self._open.add(screen)
        self._app.call_later(self._go_on)
