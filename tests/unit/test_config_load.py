"""The layers of the configuration, and what is wrong with a file that cannot be used."""

import re
from pathlib import Path

import pytest

from woodwind.config import load as loading, template
from woodwind.config.load import load, project_file
from woodwind.config.schema import SECTIONS, Config, fields
from woodwind.config.sizes import parse_size, show_size
from woodwind.model.errors import ConfigError


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "text, message, hint",
    [
        ("[nwe]\n", "unknown key `nwe`", "`new`"),
        ('[new]\nagnet = "x"\n', "unknown key `new.agnet`", "`new.agent`"),
        ('[tmux]\nsevrer = "own"\n', "unknown key `tmux.sevrer`", "`tmux.server`"),
        ("[agents.toy]\ncomand = 'x'\n", "unknown key `agents.toy.comand`", "`agents.toy.command`"),
        ("[new]\nagent = 7\n", "new.agent must be a text, found 7", ""),
        ("[new]\nagent = true\n", "new.agent must be a text, found True", ""),
        ('[trash]\ndays = "14"\n', "trash.days must be a whole number, found '14'", ""),
        ("[trash]\ndays = true\n", "trash.days must be a whole number, found True", ""),
        ("[trash]\ndays = -1\n", "trash.days must be 0 or more, found -1", ""),
        ('[trash]\nmax_size = "much"\n', 'trash.max_size must be a size such as "500 MB"', ""),
        ('[tmux]\nserver = "mine"\n', "tmux.server must be one of auto, user, own, found 'mine'", ""),
        ('[agents.toy]\nargs = "--fast"\n', "agents.toy.args must be a list of texts", ""),
        ("[agents.toy]\nargs = [1]\n", "agents.toy.args must be a list of texts", ""),
        ("[agents.toy]\nenv = { A = 1 }\n", "agents.toy.env must be a table of texts", ""),
        ("agents = 3\n", "agents are sections, written as [agents.NAME]", ""),
        ("[agents]\ntoy = 3\n", "agents are sections, written as [agents.NAME]", ""),
        ("new = 3\n", "`new` must be a section, written as [new]", ""),
        ('[new]\nagent = "x\n', "is not valid TOML", "Mend that line"),
        ("[new]\n\nagent = \n", "line 3", ""),
        ("[new]\n[new]\n", "is not valid TOML", ""),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = write(tmp_path / "woodwind.toml", text)
    with pytest.raises(ConfigError) as told:
        load(path, environ={}, user="")
    assert message in told.value.message
    assert path in told.value.message
    assert hint in told.value.hint
    assert told.value.exit_code == 2


def test_a_file_that_is_not_text_or_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load(str(tmp_path / "bytes.toml"), environ={}, user="")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(str(tmp_path), environ={}, user="")


def test_layers_lie_on_top_of_each_other_key_by_key(tmp_path: Path) -> None:
    user = write(
        tmp_path / "u.toml",
        '[new]\nagent = "u"\nbase = "ub"\nprefix = "up"\n[agents.toy]\ncommand = "a"\nargs = ["1"]\n',
    )
    project = write(tmp_path / "p.toml", '[new]\nagent = "p"\nbase = "pb"\n[agents.toy]\nargs = ["2"]\n')
    loaded = load(project, environ={"WOODWIND_NEW_AGENT": "e"}, user=user)
    assert (loaded.config.new.agent, loaded.config.new.base, loaded.config.new.prefix) == ("e", "pb", "up")
    assert (loaded.config.agents["toy"].command, loaded.config.agents["toy"].args) == ("a", ["2"])
    assert loaded.config.trash.days == 14
    assert loaded.files == [user, project]
    assert loaded.sources["new.agent"] == "$WOODWIND_NEW_AGENT"
    assert loaded.sources["new.base"] == project
    assert loaded.sources["new.prefix"] == user
    assert "trash.days" not in loaded.sources


@pytest.mark.parametrize(
    "variable, value", [("WOODWIND_TRASH_DAYS", "soon"), ("WOODWIND_TMUX_SERVER", "mine"), ("WOODWIND_FORMAT", "yaml")]
)
def test_a_wrong_variable_is_named(variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"\${variable}"):
        load(environ={variable: value}, user="")


def test_every_key_of_every_section_can_be_set_by_a_variable() -> None:
    for section, cls in SECTIONS.items():
        for f in fields(cls):
            variable = loading.variable_for(section, f.name, f.metadata)
            current = getattr(getattr(Config(), section), f.name)
            if isinstance(current, dict):
                continue  # a table has no spelling as one text
            value = "3" if isinstance(current, int) else (f.metadata["choices"] or ("5 MB",))[-1]
            if isinstance(current, bool):
                value = "False" if current else "True"
            loaded = load(environ={variable: value}, user="")
            found = getattr(getattr(loaded.config, section), f.name)
            assert ",".join(found) == value if isinstance(found, list) else str(found) == value


def test_the_project_file_is_the_nearest_one(tmp_path: Path) -> None:
    deep = tmp_path / "top" / "a" / "b"
    deep.mkdir(parents=True)
    top = str(tmp_path / "top")
    write(tmp_path / "woodwind.toml", "")
    assert project_file(str(deep), top) == ""
    at_top = write(tmp_path / "top" / "woodwind.toml", "")
    assert project_file(str(deep), top) == at_top
    nearer = write(tmp_path / "top" / "a" / "woodwind.toml", "")
    assert project_file(str(deep), top) == nearer
    assert project_file(top, top) == at_top


def test_a_worktree_takes_the_file_of_the_main_checkout(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "tree").mkdir()
    path = write(tmp_path / "main" / "woodwind.toml", "")
    assert project_file(str(tmp_path / "tree"), str(tmp_path / "tree"), str(tmp_path / "main")) == path


def test_a_relative_command_is_relative_to_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    text = "".join(
        f'[agents.{n}]\ncommand = "{c}"\n' for n, c in (("a", "./x"), ("b", "bin/x"), ("c", "x"), ("d", "~/x"))
    )
    agents = load(write(tmp_path / "woodwind.toml", text), environ={}, user="").config.agents
    assert [agents[n].command for n in "abcd"] == [f"{tmp_path}/x", f"{tmp_path}/bin/x", "x", "/somewhere/x"]


def test_the_first_file_is_valid_changes_nothing_and_shows_every_key(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    assert template.write_first(str(path))
    assert load(environ={}, user=str(path)).config == Config()
    text = path.read_text()
    # With every comment sign before a key taken away it is still valid, and still says the defaults.
    plain = re.sub(r"(?m)^# ([a-z_]+ = )", r"\1", text)
    uncommented = plain.replace("# [agents.NAME]", "[agents.NAME]")
    assert load(environ={}, user=write(tmp_path / "all.toml", uncommented)).config.new == Config().new
    for section, cls in SECTIONS.items():
        assert f"[{section}]" in text
        for f in fields(cls):
            assert f"# {f.name} = " in text
    path.write_text("mine")
    assert not template.write_first(str(path))
    assert path.read_text() == "mine"


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not template.write_first(str(tmp_path / "file" / "config.toml"))


@pytest.mark.parametrize(
    "text, size",
    [
        ("20 GB", 20 * 10**9),
        ("500MB", 5 * 10**8),
        ("1.5 KiB", 1536),
        ("7", 7),
        ("x", None),
        ("-1 GB", None),
        ("GB", None),
        ("1 XB", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("size, text", [(0, "0 B"), (999, "999 B"), (1400, "1.4 KB"), (20 * 10**9, "20.0 GB")])
def test_shown_sizes(size: int, text: str) -> None:
    assert show_size(size) == text
