"""Installing the real agents: which, where, and what happens when npm cannot."""

from pathlib import Path

import pytest

from woodwind.testing import agent_programs
from woodwind.testing.agent_programs import ALL, ALWAYS, CannotInstall, cache_folder, chosen, install, place_of

NPM = """#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
name=${3%@*}
case $name in *claude*) name=claude;; *codex*) name=codex;; esac
mkdir -p "$2/node_modules/.bin"
printf '#!/bin/sh\\necho v%s\\n' "VERSION" > "$2/node_modules/.bin/$name"
chmod +x "$2/node_modules/.bin/$name"
"""


def fake_npm(folder: Path, script: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / "npm").write_text(script)
    (folder / "npm").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "WOODWIND_AGENTS_CACHE": str(folder / "cache")}


def test_which_agents_are_meant() -> None:
    assert chosen([]) == ALWAYS
    assert chosen(["all"]) == ALL
    assert chosen(["pi", "codex"]) == ("pi", "codex")
    with pytest.raises(CannotInstall, match="kiro"):
        chosen(["kiro"])


def test_where_they_are_kept() -> None:
    assert cache_folder({"WOODWIND_AGENTS_CACHE": "/a/b", "XDG_CACHE_HOME": "/c"}) == Path("/a/b")
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/woodwind-agents")
    assert cache_folder({}) == Path.home() / ".cache" / "woodwind-agents"


def test_what_is_there_is_not_installed_again(tmp_path: Path) -> None:
    npm = NPM.replace("VERSION", "${3##*@}")
    environ = fake_npm(tmp_path, npm)
    cache = install(["codex"], environ)
    assert sorted(path.name for path in cache.iterdir()) == [
        place_of("codex", cache).name, "lock", f"node-{agent_programs.NODE}",
    ]  # fmt: skip
    fake_npm(tmp_path, "#!/bin/sh\nexit 1\n")
    assert install(["codex"], environ) == cache


@pytest.mark.parametrize(
    "script, said",
    [
        ("#!/bin/sh\necho the registry cannot be reached >&2\nexit 1\n", "the registry cannot be reached"),
        (NPM.replace("VERSION", "0.0.1"), "installed"),
        ("#!/bin/sh\nexit 0\n", "does not run"),
    ],
)
def test_what_cannot_be_had_is_not_there(tmp_path: Path, script: str, said: str) -> None:
    environ = fake_npm(tmp_path, script)
    with pytest.raises(CannotInstall, match=said):
        install(["codex"], environ)
    assert [path.name for path in cache_folder(environ).iterdir()] == ["lock"]
