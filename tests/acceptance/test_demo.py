"""`ww demo`: without a terminal it tells what happened, on one it opens the control plane; both leave nothing."""

from pathlib import Path

from woodwind.testing.desk import Desk
from woodwind.testing.sandbox import Sandbox


def test_without_a_terminal_it_tells_what_happened_and_leaves_nothing(sandbox: Sandbox) -> None:
    done = sandbox.ww("demo", cwd=sandbox.home, check=True)
    for words in ("collides with", "landed in main", "passed on the merged result", "committed:"):
        assert words in done.stdout
    assert "asking" in done.stdout
    assert "\nadd-farewell-end\n" not in done.stdout  # it has landed: there is nothing under such a head
    assert list(Path(sandbox.env["TMPDIR"]).iterdir()) == []


def test_on_a_terminal_the_control_plane_opens_with_all_four_sections(sandbox: Sandbox) -> None:
    desk = Desk(sandbox, sandbox.home, "demo")
    desk.shows("NEEDS YOU 1", "Translate them to French first?", "READY TO SHIP", "collides with", "IN FLIGHT")
    desk.shows("BACKGROUND", "landed in main")
    assert desk.leave() == 0
    told = sandbox.screen(desk.pane, server=desk.server, history=True)
    assert "All of it was removed again" in told
    assert "\nstarted fix-greetings-names" in told
    assert "opening its terminal" not in told  # a line of progress that another line was written behind
    assert not _daemons(sandbox.env["TMPDIR"])
    assert list(Path(sandbox.env["TMPDIR"]).iterdir()) == []


def _daemons(folder: str) -> list[str]:
    """The daemons whose state is below this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"woodwind.daemon" in (process / "cmdline").read_bytes():
                environment = (process / "environ").read_bytes().decode(errors="replace")
                found += [process.name] if f"XDG_STATE_HOME={folder}/" in environment else []
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return found
