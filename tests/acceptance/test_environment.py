"""What a new worktree gets: dependencies, environment files and ports, prepared while the agent works."""

import json
import os
import socket
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from woodwind.base.processes import is_running
from woodwind.testing.evidence import rows
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import finish, listed, new_worker, start

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
LOCK = '{"name": "a", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "a", "version": "1.0.0"}}}'
NODE = {"package.json": '{"name": "a", "version": "1.0.0"}', "package-lock.json": LOCK, ".gitignore": "node_modules/\n"}


def project(box: Sandbox, files: dict[str, str], config: str = "") -> Path:
    """A repository with these files, and a toy agent from the user's own configuration."""
    folder = Path(box.env["XDG_CONFIG_HOME"], "woodwind")
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(TOY + config)
    return make_repo(box.home / "project", files=files)


def stand_in(box: Sandbox, name: str, script: str) -> None:
    """Put a program of this name in front of any other."""
    folder = box.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    if not box.env["PATH"].startswith(str(folder)):
        box.env["PATH"] = f"{folder}:{box.env['PATH']}"


def environment(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, Any]:
    found: dict[str, Any] = box.ww("show", name, "--json", cwd=repo, check=True).json["data"][0]["environment"]
    return found


def prepared(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, Any]:
    """The environment once nobody prepares it any more."""

    def ended() -> dict[str, Any] | None:
        found = environment(box, repo, name)
        return found if found["state"] not in ("pending", "running") else None

    return box.wait_for(ended, 100, "the end of the preparation") or {}


def test_python_node_rust_and_go_projects_get_their_dependencies(sandbox: Sandbox) -> None:
    """Real pip, npm, cargo and go, where they are installed; all that they install is in the repository: no network."""
    repo = project(
        sandbox,
        {
            "requirements.txt": "./greeting-1.0-py3-none-any.whl\n",
            "package.json": '{"name": "a", "version": "1.0.0", "dependencies": {"bell": "file:bell"}}',
            "package-lock.json": json.dumps(
                {
                    "name": "a", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                    "packages": {
                        "": {"name": "a", "version": "1.0.0", "dependencies": {"bell": "file:bell"}},
                        "bell": {"version": "1.0.0"},
                        "node_modules/bell": {"resolved": "bell", "link": True},
                    },
                }
            ),
            "bell/package.json": '{"name": "bell", "version": "1.0.0"}',
            "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n',
            "src/lib.rs": "",
            "go.mod": "module a\n\ngo 1.18\n\nrequire example.com/x v0.0.0\n\nreplace example.com/x => ./x\n",
            "x/go.mod": "module example.com/x\n\ngo 1.18\n",
            ".gitignore": "node_modules/\ntarget/\n",
        },
    )  # fmt: skip
    with zipfile.ZipFile(repo / "greeting-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeting.py", "HELLO = 1\n")
        about = "greeting-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"greeting.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    commit(repo, "Add a wheel")
    # A cargo from rustup finds its toolchain there; nothing else of the real home is used.
    sandbox.env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
    bell = "mkdir -p node_modules/bell && echo {} > node_modules/bell/package.json"
    for asked, play in {"npm --version": bell, "cargo --version": "true", "go version": "true"}.items():
        if sandbox.run("sh", "-c", asked).code:
            stand_in(sandbox, asked.split()[0], play)
    tree = new_worker(sandbox, repo)
    found = prepared(sandbox, repo)
    log = sandbox.ww("log", "worker-one", "--environment", "--lines", "200", cwd=repo, check=True).stdout
    assert found["state"] == "done", log
    assert sandbox.run(str(tree / ".venv/bin/python"), "-c", "import greeting; print(greeting.HELLO)").stdout == "1\n"
    assert (tree / "node_modules/bell/package.json").is_file()
    assert "cargo fetch --locked is done" in log
    assert "go mod download is done" in log
    assert log.endswith("ww: ready\n")
    assert git(tree, "status", "--porcelain") == ""


def test_go_and_composer_run_as_recorded_and_the_brief_tells_of_it(sandbox: Sandbox) -> None:
    for tool in ("go", "composer"):
        stand_in(sandbox, tool, f'echo "{tool} $*" >> "$HOME/calls"; pwd >> "$HOME/calls"')
    files = {"go.mod": "module a\n", "web/composer.lock": "{}\n"}
    repo = project(sandbox, files, '[environment]\nfolders = ["web", "../out", "none"]\n')
    tree = new_worker(sandbox, repo)
    assert prepared(sandbox, repo)["state"] == "done"
    calls = (sandbox.home / "calls").read_text().splitlines()
    assert calls == ["go mod download", str(tree), "composer install --no-interaction", str(tree / "web")]
    brief = (tree / ".woodwind/brief.md").read_text()
    assert environment(sandbox, repo)["log"] in brief


def test_a_virtual_environment_is_never_seen_by_git_also_while_it_is_made(sandbox: Sandbox) -> None:
    made = "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; ln -s /bin/true .venv/bin/python"
    stand_in(sandbox, "python3", f'{made}; git status --porcelain > "$HOME/seen"')
    repo = project(sandbox, {"requirements.txt": ""})
    tree = new_worker(sandbox, repo)
    assert prepared(sandbox, repo)["state"] == "done"
    assert (tree / ".venv" / "pyvenv.cfg").exists()
    assert (sandbox.home / "seen").read_text() == ""


def test_nothing_is_prepared_where_there_is_nothing_or_it_is_not_wanted(sandbox: Sandbox) -> None:
    repo = project(sandbox, {"README.md": "x\n"})
    new_worker(sandbox, repo, "plain")
    assert environment(sandbox, repo, "plain")["state"] == "none"
    commit(repo, "Python", {"pyproject.toml": "[project]\nname = 'x'\n"})
    new_worker(sandbox, repo, "wishes")
    told = sandbox.ww("log", "wishes", "--environment", "--json", cwd=repo).json["error"]
    assert "pyproject.toml is there, but no lock file" in told["hint"]
    commit(repo, "Node", NODE)
    sandbox.ww("new", "Work", "--name", "without", "--no-install", cwd=repo, check=True)
    assert environment(sandbox, repo, "without")["state"] == "none"
    assert sandbox.ww("log", "without", "--environment", "--json", cwd=repo).json["error"]["code"] == "no_log"


@pytest.mark.parametrize(
    "script, state, detail",
    [
        ("echo broken >&2; exit 3", "failed", "npm ci --no-audit --no-fund ended with status 3"),
        ("trap '' TERM; sleep 600 & wait; sleep 600", "timed_out", "did not end within 2 seconds"),
    ],
    ids=["failing", "hanging"],
)
def test_an_installation_that_does_not_work_leaves_a_usable_worker(
    sandbox: Sandbox, script: str, state: str, detail: str
) -> None:
    stand_in(sandbox, "npm", f"echo $$ > $HOME/npm.pid; {script}")
    repo = project(sandbox, NODE, "[environment]\ntimeout = 2\n" if state == "timed_out" else "")
    new_worker(sandbox, repo)
    found = prepared(sandbox, repo)
    assert found["state"] == state
    assert detail in found["detail"]
    assert listed(sandbox, repo)["environment"] == {"state": state, "detail": found["detail"]}
    words = state.replace("_", " ")
    assert f", install {words}  " in sandbox.ww("ls", cwd=repo, check=True).stdout
    told = sandbox.ww("show", "worker-one", cwd=repo, check=True).stdout
    assert f"  install   {words}: npm ci" in told
    assert "(ww log worker-one --environment)" in told
    assert sandbox.ww("exec", "worker-one", "--", "true", cwd=repo).code == 0
    assert rows(sandbox, "SELECT data FROM event WHERE kind = 'environment.prepared'")
    noted = sandbox.home / "npm.pid"  # where it came so far
    assert not noted.exists() or not Path("/proc", noted.read_text().strip() or "0").exists()


def test_a_preparation_that_was_killed_is_told_as_failed_and_a_removal_ends_one(sandbox: Sandbox) -> None:
    stand_in(sandbox, "npm", "echo begun; exec sleep 600")
    repo = project(sandbox, NODE)
    new_worker(sandbox, repo, "killed")
    sandbox.wait_for(lambda: "npm ci" in environment(sandbox, repo, "killed")["detail"], 60, "npm to begin")
    assert "installing" in sandbox.ww("ls", cwd=repo, check=True).stdout
    assert sandbox.end_keepers() >= 1
    found = environment(sandbox, repo, "killed")
    assert (found["state"], found["detail"][:22]) == ("failed", "its process was killed")
    new_worker(sandbox, repo, "removed")
    sandbox.wait_for(lambda: "npm ci" in environment(sandbox, repo, "removed")["detail"], 60, "npm to begin")
    sandbox.ww("rm", "removed", "--yes", cwd=repo, check=True)
    sql = "SELECT e.state, e.pid, e.pid_start FROM environment e JOIN worker w ON w.id = e.worker WHERE w.name = ?"
    [(state, pid, pid_start)] = rows(sandbox, sql, "removed")
    assert state == "stopped"
    sandbox.wait_for(lambda: not is_running(pid, pid_start), 60, "the preparer to end")


def test_an_agent_that_waits_for_its_environment_starts_after_it(sandbox: Sandbox) -> None:
    stand_in(sandbox, "npm", 'until [ -e "$HOME/go" ]; do sleep 0.05; done')
    repo = project(sandbox, NODE, "[environment]\nwait = true\n")
    made = sandbox.ww("new", "Work", "--name", "worker-one", "--json", cwd=repo, check=True)
    assert made.json["data"]["workers"][0]["phase"] == "queued"
    assert "first its environment is prepared" in made.stderr
    assert listed(sandbox, repo)["phase"] == "queued"
    (sandbox.home / "go").touch()
    sandbox.wait_for(lambda: listed(sandbox, repo)["phase"] == "running", 60, "the agent to be started")
    assert environment(sandbox, repo)["state"] == "done"


def test_a_preparation_that_nobody_began_is_begun_by_the_next_list(sandbox: Sandbox) -> None:
    stand_in(sandbox, "npm", "true")
    repo = project(sandbox, NODE)
    words = ("new", "Work", "--name", "worker-one", "--headless")
    cut = sandbox.ww(*words, "--agent", "rehearsal", cwd=repo, env={"WOODWIND_FAILPOINT": "create.after_commit"})
    assert cut.code == -9
    assert rows(sandbox, "SELECT state FROM environment") == [("pending",)]
    sandbox.ww("ls", cwd=repo, check=True)
    assert prepared(sandbox, repo)["state"] == "done"


def test_a_cache_is_copied_only_where_the_lock_file_is_the_same(sandbox: Sandbox) -> None:
    """This file system may be unable to clone: then the copy below a size shows the same decisions."""
    stand_in(sandbox, "npm", "echo ran > installed")
    files = {**NODE, ".gitignore": "node_modules/\n.venv/\ninstalled\n"}
    caches = 'copy_caches = "1 MB"\ncaches = ["node_modules", ".venv"]\n'
    repo = project(sandbox, files, f"[environment]\n{caches}")
    for path in ("node_modules/bell/index.js", ".venv/bin/python", ".venv/pyvenv.cfg"):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text("here\n")
    same = new_worker(sandbox, repo, "same")
    assert prepared(sandbox, repo, "same")["state"] == "done"
    assert (same / "node_modules/bell/index.js").read_text() == "here\n"
    assert not (same / "installed").exists()
    assert not (same / ".venv").exists()  # a virtual environment works in one place only
    for marker in ("node_modules", "node_modules/.package-lock.json"):
        if "/" in marker:
            (repo / marker).write_text("{}\n")
            os.utime(repo / "node_modules")  # as a build tool's own cache in there does
        os.utime(repo / marker, (1, 1))  # the lock file came by a pull, and nobody has installed it yet
        stale = new_worker(sandbox, repo, f"stale-{len(marker)}")
        assert prepared(sandbox, repo, f"stale-{len(marker)}")["state"] == "done"
        assert ((stale / "node_modules").exists(), (stale / "installed").exists()) == (False, True)
    os.utime(repo / "node_modules/.package-lock.json")
    git(repo, "branch", "old")
    commit(repo, "Another lock", {"package-lock.json": LOCK + "\n"})
    sandbox.ww("new", "Work", "--name", "other", "--base", "old", cwd=repo, check=True)
    assert prepared(sandbox, repo, "other")["state"] == "done"
    other = Path(sandbox.ww("path", "other", cwd=repo, check=True).stdout.strip())
    assert (other / "installed").exists()
    assert not (other / "node_modules").exists()


def test_env_files_are_copied_only_when_plain_ignored_and_of_the_repository(sandbox: Sandbox) -> None:
    repo = project(sandbox, {".gitignore": ".env*\n!.env.shown\n", "config/real": "LINKED=1\n"})
    (repo / ".env").write_text(f"ROOT={repo}/data\nSECRET=hunter2\n")
    (repo / ".env").chmod(0o640)
    (repo / ".env.shown").write_text("untracked and not ignored\n")
    (repo / ".env.large").write_bytes(b"x" * (1 << 20) + b"y")
    (repo / ".env.inside").symlink_to("config/real")
    (repo / ".env.passwd").symlink_to("/etc/passwd")
    (repo / ".env.zero").symlink_to("/dev/zero")
    (repo / ".env.git").symlink_to(".git/config")
    (repo / ".env.gone").symlink_to("nowhere")
    os.mkfifo(repo / ".env.pipe")
    (repo / ".env.folder").mkdir()
    made = sandbox.ww("new", "Work", "--name", "worker-one", "--json", cwd=repo, check=True)
    tree = Path(made.json["data"]["workers"][0]["path"])
    assert sorted(p.name for p in tree.glob(".env*")) == [".env", ".env.inside"]
    assert (tree / ".env").read_text() == f"ROOT={tree}/data\nSECRET=hunter2\n"
    assert (tree / ".env").stat().st_mode & 0o777 == 0o600
    assert not (tree / ".env.inside").is_symlink()
    assert git(tree, "status", "--porcelain") == ""
    for name, why in {
        "shown": "does not ignore",
        "passwd": "leads out",
        "zero": "leads out",
        "large": "larger",
    }.items():
        assert any(f".env.{name} was not copied" in line and why in line for line in made.stderr.splitlines())
    assert ".env.folder" not in made.stderr
    kept = [p for p in Path(sandbox.env["XDG_STATE_HOME"]).rglob("*") if p.is_file()]
    assert not [p for p in kept if b"hunter2" in p.read_bytes()]


def test_env_files_that_lead_elsewhere_are_not_read_and_nothing_hangs(sandbox: Sandbox) -> None:
    """Links to keys, devices, pipes and folders, straight and by detours; also out of the worktree that gets them."""
    outside = sandbox.home / "outside"
    outside.mkdir()
    (outside / "id_rsa").write_text("PRIVATE KEY\n")
    (outside / ".env").write_text("PRIVATE KEY\n")
    os.mkfifo(outside / "pipe")
    repo = project(
        sandbox,
        {".gitignore": ".env*\nlinked\npipe\nsock\n", "real": "X=1\n", "web/keep": "", "out/keep": ""},
        '[environment]\nfolders = ["web", "linked", "out"]\n',
    )
    (repo / "linked").symlink_to(outside)
    os.mkfifo(repo / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        # A socket's address is short: the folder is named by where we stand.
        here = os.open(repo, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/sock")
        os.close(here)
    (repo / "chain").symlink_to(outside / "id_rsa")
    (repo / ".git" / "info" / "exclude").write_text("chain\nabove\n")
    (repo / "above").symlink_to("..")
    targets: dict[str, str | Path] = {
        "key": outside / "id_rsa", "relative": "../outside/id_rsa", "chain": "chain", "folder": "linked/id_rsa",
        "above": "above/outside/id_rsa", "dots": "web/../../outside/id_rsa", "passwd": "/etc/passwd",
        "zero": "/dev/zero", "random": "/dev/random", "stdin": "/dev/stdin", "tty": "/dev/tty", "fd": "/proc/self/fd/0",
        "environ": "/proc/self/environ", "mem": "/proc/self/mem", "pipe": "pipe", "far": outside / "pipe",
        "sock": "sock", "git": ".git/config", "head": ".git/HEAD", "loop": ".env.loop", "gone": "nowhere",
    }  # fmt: skip
    for name, target in targets.items():
        (repo / f".env.{name}").symlink_to(target)
    (repo / "web" / ".env").symlink_to(outside / "id_rsa")
    (repo / ".env.good").symlink_to("real")
    (repo / "out" / ".env").write_text("MINE=1\n")
    # In the commit that the worker gets, `out` leads out of its worktree.
    git(repo, "switch", "--quiet", "-c", "trap")
    git(repo, "rm", "--quiet", "out/keep")
    (repo / "out" / ".env").unlink()
    (repo / "out").rmdir()
    (repo / "out").symlink_to(outside)
    git(repo, "add", "out")
    git(repo, "commit", "--quiet", "-m", "Lead out")
    git(repo, "switch", "--quiet", "main")
    (repo / "out" / ".env.new").write_text("MINE=1\n")
    made = sandbox.ww("new", "Work", "--base", "trap", "--json", cwd=repo, check=True, timeout=60)
    tree = Path(made.json["data"]["workers"][0]["path"])
    assert sorted(p.name for p in tree.rglob(".env*")) == [".env.good"]
    assert (tree / ".env.good").read_text() == "X=1\n"
    assert sorted(p.name for p in outside.iterdir()) == [".env", "id_rsa", "pipe"]
    for name in targets:
        assert f".env.{name} was not copied" in made.stderr, name
    kept = [p for p in Path(sandbox.env["XDG_STATE_HOME"]).rglob("*") if p.is_file()]
    assert not [p for p in kept if b"PRIVATE KEY" in p.read_bytes()]


STRANGER = """
import os
from woodwind.agents.rehearsal import Rehearsal
from woodwind.ops.context import Context
from woodwind.ops.create import create
from woodwind.ops.free_names import Request
from woodwind.ops.projects import current
ctx = Context(os.getcwd(), os.environ)
print(create(ctx, current(ctx), Request("Look", name="worker-one", untrusted=True), Rehearsal()).worktree.path)
"""


@pytest.mark.parametrize("wait", ["false", "true"])
def test_a_strangers_code_gets_nothing_but_ports(sandbox: Sandbox, wait: str) -> None:
    stand_in(sandbox, "npm", 'touch "$HOME/ran"')
    hooks = '[hooks]\nsetup = "touch $HOME/ran"\nteardown = "touch $HOME/ran"\n'
    repo = project(sandbox, {**NODE, ".gitignore": ".env\nnode_modules/\n"}, f"[environment]\nwait = {wait}\n{hooks}")
    (repo / ".env").write_text("SECRET=1\n")
    tree = Path(sandbox.run(sys.executable, "-c", STRANGER, cwd=repo, check=True).stdout.strip())
    sandbox.wait_for(lambda: listed(sandbox, repo)["phase"] == "running", 60, "the agent to be started")
    assert prepared(sandbox, repo)["port"]
    assert not (tree / ".env").exists()
    sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo, check=True)
    assert not (sandbox.home / "ran").exists()


def test_ports_are_each_workers_own_for_life(sandbox: Sandbox) -> None:
    # Not where `ww` looks by itself: a test beside this one may be trying a port there in this very moment.
    repo = project(sandbox, {"README.md": "x\n"}, "[environment]\nports = 100\nport_from = 31000\nport_to = 31599\n")
    at_once = [start(sandbox, repo, "new", "Work", "--name", f"w{n}") for n in range(4)]
    assert [finish(process)[0] for process in at_once] == [0, 0, 0, 0]
    given = {f"w{n}": environment(sandbox, repo, f"w{n}")["port"] for n in range(4)}
    assert len(set(given.values())) == 4
    assert all(31000 <= port <= 31500 and (port - 31000) % 100 == 0 for port in given.values())
    print_it = ("--", "sh", "-c", "echo $WOODWIND_PORT-$WOODWIND_PORTS")
    assert sandbox.ww("exec", "w1", *print_it, cwd=repo, check=True).stdout == f"{given['w1']}-100\n"
    sandbox.ww("rm", "w1", "--yes", cwd=repo, check=True)
    for name in ("w4", "w5"):
        new_worker(sandbox, repo, name)
    full = sandbox.ww("new", "Work", "--json", cwd=repo)  # the one in the trash keeps its block
    assert full.json["error"]["code"] == "no_ports"
    sandbox.ww("restore", "w1", cwd=repo, check=True)
    sandbox.ww("resume", "w1", "--fresh", cwd=repo, check=True)
    pid = rows(sandbox, "SELECT t.pid FROM terminal t JOIN worker w ON w.id = t.worker WHERE w.name = 'w1'")[0][0]
    assert f"WOODWIND_PORT={given['w1']}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
