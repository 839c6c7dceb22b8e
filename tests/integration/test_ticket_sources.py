"""Sources by name: the built-in ones, and one that comes with a package."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from woodwind.model.errors import UsageError, WoodwindError
from woodwind.testing.sandbox import Sandbox
from woodwind.tickets.base import NoTicket, Source
from woodwind.tickets.registry import BUILT_IN, source

PLUGIN = Path(__file__).parents[1] / "plugins" / "woodwind-notes-tickets"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder into which the example package is installed, as an installer would write it."""
    folder = tmp_path / "site"
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {place}" for name, place in project["entry-points"]["woodwind.tickets"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[woodwind.tickets]", *lines]) + "\n")
    for module in PLUGIN.glob("*.py"):
        shutil.copy(module, folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "woodwind_notes_tickets", raising=False)
    return folder


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_every_built_in_source_has_the_whole_protocol(name: str) -> None:
    found = source(f"{name}:TODO.md", "/", {}, timeout=7)
    assert (found.name, found.timeout, found.where) == (name, 7, "TODO.md")
    for verb in ("fetch", "ready", "claim", "progress", "close"):
        assert getattr(type(found), verb) is not getattr(Source, verb), verb


def test_a_source_from_a_package(plugin: Path, sandbox: Sandbox, repo: Path) -> None:
    (repo / "notes").mkdir()
    (repo / "notes" / "a1.txt").write_text("Water the plants\nTwice.\n")
    found = source("notes", str(repo), {})
    assert (found.package, found.fetch("a1").title) == ("woodwind-notes-tickets", "Water the plants")
    with pytest.raises(NoTicket):
        found.fetch("b2")
    with pytest.raises(UsageError, match="the source notes cannot list what is ready"):
        found.ready("")
    env = {"PYTHONPATH": f"{sandbox.env['PYTHONPATH']}:{plugin}"}
    done = sandbox.ww("brief", "--preview", "--ticket", "notes:a1", cwd=repo, env=env, check=True)
    assert "Notes a1" in done.stdout
    assert "Twice." in done.stdout


def test_a_source_that_is_broken_or_unknown_is_said(plugin: Path) -> None:
    (plugin / "woodwind_notes_tickets.py").write_text("raise ImportError('half of it is missing')\n")
    with pytest.raises(WoodwindError, match="half of it is missing") as broken:
        source("notes", "/", {})
    assert broken.value.code == "source_package"
    with pytest.raises(UsageError) as unknown:
        source("nothing", "/", {})
    assert "notes" in unknown.value.hint


@pytest.mark.parametrize(
    "code, why",
    [
        ("    def fetch(self, id):\n        return {}['title']\n", "KeyError: 'title'"),
        ("    def fetch(self, id):\n        return None\n", "AttributeError"),
        ("    def fetch(self, id):\n        return Ticket('notes', id, None, body=7)\n", "AttributeError"),
        ("    def __init__(self, *words):\n        1 / 0\n", "ZeroDivisionError"),
    ],
    ids=["raises", "nothing", "not-texts", "not-made"],
)
def test_what_fails_in_a_package_is_told_as_the_packages(
    plugin: Path, sandbox: Sandbox, repo: Path, code: str, why: str
) -> None:
    head = (
        "from woodwind.model.ticket import Ticket\nfrom woodwind.tickets.base import Source\n\n\nclass Notes(Source):\n"
    )
    (plugin / "woodwind_notes_tickets.py").write_text(head + code)
    env = {"PYTHONPATH": f"{sandbox.env['PYTHONPATH']}:{plugin}"}
    done = sandbox.ww("brief", "--preview", "--ticket", "notes:a1", "--json", cwd=repo, env=env)
    assert (done.code, done.json["error"]["code"]) == (1, "source_package"), done
    assert "of the package woodwind-notes-tickets cannot be used" in done.json["error"]["message"]
    assert why in done.json["error"]["message"]
