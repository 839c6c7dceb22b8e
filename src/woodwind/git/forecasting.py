"""Trial merges of what workers have right now, in a private repository that borrows the user's objects.

The user's repository gains nothing, and nothing of its configuration runs: the private one has its own, and its
attributes switch all filters off.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from woodwind.base.files import make_private_dir, write_atomic
from woodwind.base.run import Done, run
from woodwind.git.call import argv, environment
from woodwind.git.footprint import stamp
from woodwind.model.forecast import Collided, Trial, conflict_lines

# Settings that decide how files become blobs. Each is a word, none is a program.
_COPIED = (
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
    "core.excludesfile",
    "extensions.objectformat",
)
_ATTRIBUTES = b"* -filter -ident\n"
_LONGEST_SHOWN = 1 << 20  # larger files are named without their lines
_MOST_OBJECTS = 512 << 20


class Snapshot(NamedTuple):
    """A worktree's files as one commit, and the folders in it that git ignores."""

    tree: str
    commit: str
    ignored: tuple[str, ...]


class CommitFacts(NamedTuple):
    """A commit with its tree and its time in seconds."""

    commit: str
    tree: str
    time: int


class TrialMerges:
    """The private repository of one project."""

    def __init__(self, folder: str, common: str) -> None:
        self.folder = folder
        self.common = common

    def prepare(self) -> None:
        """Make it, or set it right after the user's settings changed."""
        wanted = f"{self.common}\n{stamp(os.path.join(self.common, 'config'))}\n"
        wanted += f"{stamp(os.path.join(self.common, 'info/exclude'))}\n"
        mark = os.path.join(self.folder, "made-from")
        with contextlib.suppress(OSError), open(mark, encoding="utf-8", errors="surrogateescape") as file:
            if file.read() == wanted:
                return
        for name in ("objects/info", "refs", "info", "index"):
            make_private_dir(os.path.join(self.folder, name))
        self._write("HEAD", b"ref: refs/heads/none\n")
        self._write("config", self._config())
        self._write("info/attributes", _ATTRIBUTES)
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.common, "info/exclude"), "rb") as file:
            self._write("info/exclude", file.read())
        self._write("objects/info/alternates", os.fsencode(os.path.join(self.common, "objects")) + b"\n")
        self._write("made-from", wanted.encode("utf-8", "surrogateescape"))

    def is_too_large(self) -> bool:
        """Whether old snapshots take so much room that it is time to begin anew."""
        total = 0
        for here, _, names in os.walk(os.path.join(self.folder, "objects")):
            with contextlib.suppress(OSError):
                total += sum(os.lstat(os.path.join(here, name)).st_size for name in names)
        return total > _MOST_OBJECTS

    def clear(self) -> None:
        """Begin anew: every snapshot in it is gone."""
        if os.path.isdir(self.folder):
            shutil.rmtree(self.folder)

    def _write(self, name: str, data: bytes) -> None:
        write_atomic(os.path.join(self.folder, name), data)

    def _config(self) -> bytes:
        done = run(argv("--git-dir", self.common, "config", "--null", "--list"), env=environment(), ok=None)
        pairs = [entry.partition("\n")[::2] for entry in done.text.split("\0") if entry]
        chosen = {key.lower(): value for key, value in pairs if key.lower() in _COPIED}
        version = 1 if "extensions.objectformat" in chosen else 0
        lines = [f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tlooseCompression = 1\n"]
        for key, value in chosen.items():
            section, _, name = key.partition(".")
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'[{section}]\n\t{name} = "{quoted}"\n')
        return "".join(lines).encode("utf-8", "surrogateescape")

    def git(
        self,
        *words: str,
        tree: str = "",
        index: str = "",
        input: bytes = b"",
        ok: Sequence[int] | None = (0,),
        variables: Mapping[str, str] | None = None,
    ) -> Done:
        """What git says in the private repository; with the files of the worktree `tree`, and an index, where given."""
        env = environment()
        if index:
            env["GIT_INDEX_FILE"] = index
        env.update(variables or {})
        place = ["-C", tree, "--git-dir", self.folder, "--work-tree", tree] if tree else ["--git-dir", self.folder]
        # What is here can be made again at any time: waiting for the disk would be for nothing.
        return run(argv(*place, "-c", "core.fsync=none", *words), env=env, input=input, ok=ok)

    def facts(self, commits: Sequence[str]) -> dict[str, CommitFacts]:
        """Tree and time of commits, by id; what is no commit is left out."""
        if not commits:
            return {}
        found: dict[str, CommitFacts] = {}
        for commit, data in zip(commits, self._objects([f"{c}^{{commit}}" for c in commits]), strict=True):
            if data is None:
                continue
            lines = data.split(b"\n\n", 1)[0].decode("utf-8", "replace").split("\n")
            tree = lines[0].removeprefix("tree ")
            when = next((line for line in lines if line.startswith("committer ")), "0 +0000")
            found[commit] = CommitFacts(commit, tree, int(when.rsplit(" ", 2)[1]))
        return found

    def _objects(self, names: Sequence[str]) -> list[bytes | None]:
        """The contents of objects, in order; None for what is not there."""
        out = self.git("cat-file", "--batch", input="".join(f"{n}\n" for n in names).encode("utf-8", "surrogateescape"))
        data, at = out.stdout, 0
        found: list[bytes | None] = []
        for _ in names:
            end = data.index(b"\n", at)
            head = data[at:end].rsplit(b" ", 2)
            at = end + 1
            if len(head) < 3 or not head[2].isdigit():
                found.append(None)
                continue
            size = int(head[2])
            found.append(data[at : at + size])
            at += size + 1
        return found

    def seed(self, worker: str, admin: str) -> None:
        """Start from the worktree's own index, which knows what is tracked and what has not changed."""
        index = os.path.join(self.folder, "index", worker)
        source = os.path.join(admin, "index")
        if os.path.exists(source):
            shutil.copyfile(source, index)
            for name in os.listdir(admin):
                if name.startswith("sharedindex."):
                    shutil.copyfile(os.path.join(admin, name), os.path.join(self.folder, name))
        elif os.path.exists(index):
            os.unlink(index)

    def snapshot(self, worker: str, path: str, head: CommitFacts | None) -> Snapshot:
        """All files of a worktree that git does not ignore, as a commit on top of its head."""
        index = os.path.join(self.folder, "index", worker)
        # Files that cannot be read, and repositories without a commit, are left out (status 1).
        self.git("add", "--all", "--ignore-errors", "--", ".", tree=path, index=index, ok=(0, 1))
        ignored = self.git(
            "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", tree=path, index=index
        ).text.split("\0")
        tree = self.git("write-tree", index=index).text.strip()
        folders = tuple(name for name in ignored if name.endswith("/"))
        if head and head.tree == tree:
            return Snapshot(tree, head.commit, folders)
        when = f"{head.time if head else 0} +0000"
        who = {f"GIT_{r}_{k}": v for r in ("AUTHOR", "COMMITTER") for k, v in
               (("NAME", "woodwind"), ("EMAIL", "woodwind@localhost"), ("DATE", when))}  # fmt: skip
        parent = ("-p", head.commit) if head else ()
        done = self.git("commit-tree", tree, *parent, "-m", "What is there now", variables=who)
        return Snapshot(tree, done.text.strip(), folders)

    def graph(self, commits: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
        """(parents by commit since the histories parted, where they parted) over all of these commits."""
        unique = sorted(set(commits))
        if len(unique) < 2:
            return {c: [] for c in unique}, []
        done = self.git("merge-base", "--octopus", "--all", *unique, ok=None)
        roots = done.text.split() if done.code == 0 else []
        listed = self.git("rev-list", "--parents", *unique, "--not", *roots, "--").text.splitlines()
        return {line.split()[0]: line.split()[1:] for line in listed}, roots

    def merge(self, trials: Sequence[Trial]) -> list[list[Collided] | None]:
        """What each trial merge cannot settle; None where git could not even try."""
        if not trials:
            return []
        words = ("merge-tree", "--stdin", "-z", "--allow-unrelated-histories")
        lines = "".join(f"{t.one} {t.other}\n" for t in trials).encode()
        done = self.git(*words, input=lines, ok=None)
        answers = parse_answers(done.stdout)[: len(trials)]
        found: list[list[Collided] | None] = [*self._with_lines(answers)]
        rest = trials[len(answers) :]
        if len(rest) == 1:
            found.append(None)
        elif rest:  # one that git cannot make takes the others with it
            half = len(rest) // 2
            found += self.merge(rest[:half]) + self.merge(rest[half:])
        return found

    def _with_lines(self, answers: "list[Answer]") -> list[list[Collided]]:
        """The same conflicts with the lines that collide, where that can be told."""
        names: list[str] = []
        for answer in answers:
            for path, file in answer.files.items():
                if file.ours and file.theirs and "\n" not in path:
                    names += [f"{answer.tree}:{path}", file.ours, file.theirs]
        blobs = iter(self._objects(names)) if names else iter(())
        found: list[list[Collided]] = []
        for answer in answers:
            conflicts = []
            for path, file in answer.files.items():
                lines: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] = ((), ())
                if file.ours and file.theirs and "\n" not in path:
                    texts = [_text(next(blobs)) for _ in range(3)]
                    if all(texts):
                        lines = conflict_lines(*texts)
                conflicts.append(Collided(path, file.kind, *lines))
            found.append(conflicts)
        return found


def _text(blob: bytes | None) -> str:
    if blob is None or len(blob) > _LONGEST_SHOWN or b"\0" in blob:
        return ""
    return blob.decode("utf-8", "replace")


class _File:
    __slots__ = ("kind", "ours", "theirs")

    def __init__(self) -> None:
        self.kind = "content"
        self.ours = ""
        self.theirs = ""


class Answer:
    """What git said about one trial merge."""

    __slots__ = ("files", "tree")

    def __init__(self, tree: str) -> None:
        self.tree = tree
        self.files: dict[str, _File] = {}


def parse_answers(output: bytes) -> list[Answer]:
    """The complete answers in the output of `git merge-tree --stdin -z`."""
    words = iter(output.decode("utf-8", "surrogateescape").split("\0")[:-1])
    answers: list[Answer] = []
    try:
        while (clean := next(words)) in ("0", "1"):
            answer = Answer(next(words))
            if clean == "1":
                next(words)
            else:
                _parse_conflicts(answer, words)
            answers.append(answer)
    except StopIteration:
        pass  # the end, or an answer that was cut short
    return answers


def _parse_conflicts(answer: Answer, words: Iterator[str]) -> None:
    while entry := next(words):
        facts, _, path = entry.partition("\t")
        _, blob, stage = facts.split(" ")
        file = answer.files.setdefault(path, _File())
        if stage == "2":
            file.ours = blob
        elif stage == "3":
            file.theirs = blob
    while count := next(words):
        paths = [next(words) for _ in range(int(count))]
        kind = next(words)
        next(words)
        if kind.startswith("CONFLICT"):
            for path in paths:
                file = answer.files.setdefault(path, _File())
                file.kind = kind.removeprefix("CONFLICT (").removesuffix(")").replace("contents", "content")
