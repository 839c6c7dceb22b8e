"""Which remote leads to a pull request's repository, however its address is written."""

from pathlib import Path

import pytest

from woodwind.git.pulling import remote_of
from woodwind.model.errors import NotFound
from woodwind.testing.repo import git, make_repo


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:o/r.git",
        "git@github.com:o/r",
        "https://github.com/o/r",
        "https://github.com/O/R.git/",
        "https://token@github.com/o/r.git",
        "ssh://git@github.com/o/r.git",
        "ssh://git@github.com:22/o/r.git",
        "github.com:o/r",
    ],
)
def test_a_remote_is_found_by_where_it_leads(tmp_path: Path, url: str) -> None:
    repo = make_repo(tmp_path / "repo")
    git(repo, "remote", "add", "other", "git@github.com:o/r-fork.git")
    git(repo, "remote", "add", "up.stream", url)
    assert remote_of(str(repo / ".git"), "github.com/o/r") == "up.stream"


def test_another_host_or_owner_is_another_repository(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    for n, url in enumerate(
        ("git@gitlab.com:o/r.git", "git@github.com:x/o/r.git", "https://evil.example/github.com/o/r")
    ):
        git(repo, "remote", "add", f"r{n}", url)
    with pytest.raises(NotFound, match="no remote of this repository leads to"):
        remote_of(str(repo / ".git"), "github.com/o/r")
