"""[limits]: what is too much waits in a queue, visibly, and starts by itself."""

from pathlib import Path

from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox

WORKERS = "WOODWIND_LIMITS_WORKERS"
DAEMON = {"WOODWIND_DAEMON_START": "auto"}


def phases(sandbox: Sandbox, repo: Path, **env: str) -> dict[str, str]:
    listed = sandbox.ww("ls", "--all", "--json", cwd=repo, env=env, check=True).json["data"]
    return {w["name"]: w["phase"] for w in listed}


def test_workers_over_the_limit_wait_and_start_in_order(sandbox: Sandbox, repo: Path) -> None:
    env = {WORKERS: "1", **DAEMON}
    for name in ("one", "two", "three"):
        made = sandbox.ww("new", "Do it", "--name", name, cwd=repo, env=env, check=True)
        assert ("waits for room: 1 of 1 workers run" in made.stderr) == (name != "one")
    assert phases(sandbox, repo, **env) == {"one": "running", "two": "queued", "three": "queued"}
    listed = sandbox.ww("ls", cwd=repo, env=env, check=True).stdout
    assert [line.split()[1] for line in listed.splitlines()[1:]] == ["unknown", "queued", "queued"]

    sandbox.ww("rm", "one", "--yes", cwd=repo, env=env, check=True)
    sandbox.wait_for(lambda: phases(sandbox, repo, **env)["two"] == "running", what="the second to start by itself")
    assert phases(sandbox, repo, **env)["three"] == "queued"

    sandbox.ww("rm", "two", "--yes", cwd=repo, env=env, check=True)
    sandbox.wait_for(lambda: phases(sandbox, repo, **env)["three"] == "running", what="the third")
    assert "toy got: Read .woodwind/brief.md" in sandbox.wait_for(
        lambda: sandbox.ww("log", "three", cwd=repo).stdout, what="its agent to print"
    )


def test_the_limit_counts_workers_of_all_projects(sandbox: Sandbox, repo: Path) -> None:
    env = {WORKERS: "1", **DAEMON}
    other = make_repo(sandbox.home / "other")
    (other / "woodwind.toml").write_text((repo / "woodwind.toml").read_text())
    sandbox.ww("new", "Do it", "--name", "here", cwd=repo, env=env, check=True)
    sandbox.ww("new", "Do it", "--name", "there", cwd=other, env=env, check=True)
    assert phases(sandbox, repo, **env) == {"here": "running", "there": "queued"}
    sandbox.ww("rm", "there", "--yes", cwd=other, env=env, check=True)
    assert phases(sandbox, repo, **env) == {"here": "running"}


def test_memory_that_the_agents_take_is_a_limit_too(sandbox: Sandbox, repo: Path) -> None:
    env = {"WOODWIND_LIMITS_MEMORY": "100 KB"}
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, env=env, check=True)
    made = sandbox.ww("new", "Do it", "--name", "two", cwd=repo, env=env, check=True)
    assert "([limits] memory)" in made.stderr
    assert phases(sandbox, repo, **env) == {"one": "running", "two": "queued"}
    sandbox.ww("rm", "two", "--yes", cwd=repo, env=env, check=True)


def test_eight_at_once_never_exceed_the_limit(sandbox: Sandbox, repo: Path) -> None:
    env = {WORKERS: "3"}
    sandbox.ww("new", "Do it", "-n", "4", cwd=repo, env=env, check=True)
    sandbox.ww("new", "Do it", "-n", "4", cwd=repo, env=env, check=True)
    found = sorted(phases(sandbox, repo, **env).values())
    assert found == ["queued"] * 5 + ["running"] * 3
    queued = [n for n, phase in phases(sandbox, repo, **env).items() if phase == "queued"]
    sandbox.ww("rm", *queued, "--yes", cwd=repo, env=env, check=True)


def test_one_that_cannot_be_started_does_not_hold_up_the_others(sandbox: Sandbox, repo: Path) -> None:
    env = {WORKERS: "1", **DAEMON}
    lame = sandbox.home / "lame"
    lame.write_text("#!/bin/sh\nexec cat\n")
    lame.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f'\n[agents.lame]\ncommand = "{lame}"\n')
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, env=env, check=True)
    sandbox.ww("new", "Do it", "--name", "two", "--agent", "lame", cwd=repo, env=env, check=True)
    sandbox.ww("new", "Do it", "--name", "three", cwd=repo, env=env, check=True)
    lame.unlink()
    sandbox.ww("rm", "one", "--yes", cwd=repo, env=env, check=True)
    sandbox.wait_for(lambda: phases(sandbox, repo, **env)["three"] == "running", what="the third to start")
    assert phases(sandbox, repo, **env)["two"] == "paused"


def test_a_keeper_that_died_is_replaced_by_the_next_command(sandbox: Sandbox, repo: Path) -> None:
    env = {WORKERS: "1", **DAEMON}
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, env=env, check=True)
    sandbox.ww("new", "Do it", "--name", "two", cwd=repo, env=env, check=True)
    # A command that the first one did not answer at once starts a second, which finds the place taken and leaves.
    sandbox.wait_for(lambda: len(sandbox.keepers()) == 1, what="one daemon alone")
    assert sandbox.end_keepers() == 1
    sandbox.ww("rm", "one", "--yes", cwd=repo, env=env, check=True)
    sandbox.wait_for(lambda: phases(sandbox, repo, **env)["two"] == "running", what="the second to start")
