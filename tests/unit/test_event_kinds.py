"""The kinds of events that hooks may name are those that are recorded, all of them and no others."""

import re
from pathlib import Path

import woodwind
from woodwind.model.event import KINDS

ROOT = Path(woodwind.__file__).parent
NOT_FOR_HOOKS = {"hook.failed"}  # a hook on its own failure would never end
_RECORDED = re.compile(r'kind="([a-z]+\.[a-z_]+)"')
_NAMED = re.compile(r'"((?:worker|turn|status|landing|run|task|forecast|queue|environment)\.[a-z_]+)"')


def _sources() -> str:
    files = [path for folder in ("ops", "store") for path in (ROOT / folder).rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_every_kind_that_is_recorded_is_declared() -> None:
    unknown = set(_RECORDED.findall(_sources())) - set(KINDS) - NOT_FOR_HOOKS
    assert not unknown, f"say in model/event.py and docs/runs.md what these are: {unknown}"


def test_every_kind_that_is_declared_is_recorded() -> None:
    text = _sources()
    assert set(KINDS) - set(_NAMED.findall(text)) - set(_RECORDED.findall(text)) == set()


def test_every_kind_is_explained_to_users() -> None:
    text = (ROOT.parents[1] / "docs" / "runs.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"| `{kind}` | {KINDS[kind]} |" not in text] == []
