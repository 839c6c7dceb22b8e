"""The only place that starts processes.

Built on posix_spawn: the subprocess module alone would cost a third of the start-up of `ww ls`.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence

from woodwind.model.errors import MissingTool, TimedOut, WoodwindError

_DEFAULT_SIGNALS = [s for s in (getattr(signal, "SIGPIPE", None), getattr(signal, "SIGXFSZ", None)) if s]
# A program that goes its own way does not inherit that we, or a script around us, ignore them.
_SESSION_SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM]


class Done:
    """A process that ended."""

    __slots__ = ("argv", "code", "stderr", "stdout")

    def __init__(self, argv: Sequence[str], code: int, stdout: bytes, stderr: bytes) -> None:
        self.argv = argv
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    @property
    def text(self) -> str:
        """Standard output as text; undecodable bytes survive as surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape")

    @property
    def complaint(self) -> str:
        """The last telling lines of standard error."""
        lines = [ln for ln in self.stderr.decode("utf-8", "replace").splitlines() if ln.strip()]
        return "\n".join(lines[-8:])


class RunFailed(WoodwindError):
    """A process ended with a status that was not expected."""

    code = "command_failed"

    def __init__(self, done: Done) -> None:
        how = f"exit status {done.code}" if done.code >= 0 else f"signal {-done.code}"
        super().__init__(f"{' '.join(done.argv[:4])}: {done.complaint or how}")
        self.done = done


def find_program(name: str, path: str | None = None) -> str:
    """The absolute path of an executable by the caller's PATH, or "" when there is none."""
    if os.path.dirname(name):
        full = os.path.abspath(name)
        return full if os.access(full, os.X_OK) and os.path.isfile(full) else ""
    for folder in (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep):
        full = os.path.join(os.path.abspath(folder or "."), name)
        if os.access(full, os.X_OK) and os.path.isfile(full):
            return full
    return ""


def not_found(name: str) -> str:
    """What to say of an executable that there is none of: at its own path, or on the caller's PATH."""
    return f"there is no program at {name}" if os.path.dirname(name) else f"there is no program {name!r} on PATH"


def spawn(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    new_session: bool = False,
    keeping: Sequence[int] = (),
) -> int:
    """Start a process with the given file descriptors (None: inherited; `keeping`: too) and return its pid."""
    program = find_program(argv[0])
    if not program:
        raise MissingTool(f"the program {argv[0]} was not found", hint=f"Install {argv[0]}, or add its folder to PATH.")
    words = [argv[0], *argv[1:]]
    if cwd is not None:
        # posix_spawn cannot change the folder; a shell that replaces itself can.
        words = ["sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", cwd, program, *argv[1:]]
        program = "/bin/sh"
    actions = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate((stdin, stdout, stderr)) if fd is not None]
    actions += [(os.POSIX_SPAWN_DUP2, fd, fd) for fd in keeping]  # onto itself: it stays open in the child
    return os.posix_spawn(
        program,
        words,
        dict(os.environ if env is None else env),
        file_actions=actions,
        setsigdef=_DEFAULT_SIGNALS + (_SESSION_SIGNALS if new_session else []),
        **({"setsid": True} if new_session else {}),  # type: ignore[arg-type]
    )


class Running:
    """A process that was started, and whose output is still to be had; until then the caller has time."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        input: bytes = b"",
        keeping: Sequence[int] = (),
    ) -> None:
        self._argv = argv
        self._input = input
        self._out, out_write = os.pipe()
        self._err, err_write = os.pipe()
        in_read, self._in = os.pipe() if input else (os.open(os.devnull, os.O_RDONLY), -1)
        try:
            self._pid = spawn(
                argv, cwd=cwd, env=env, stdin=in_read, stdout=out_write, stderr=err_write, keeping=keeping
            )
        except BaseException:
            for fd in (self._out, self._err, self._in):
                if fd >= 0:
                    os.close(fd)
            raise
        finally:
            for fd in (out_write, err_write, in_read):
                os.close(fd)

    def finish(self, *, timeout: float | None = None, ok: Sequence[int] | None = (0,)) -> Done:
        """Wait for its end and return what came out; RunFailed unless the exit status is in `ok` (None: any)."""
        try:
            stdout, stderr = _exchange(self._out, self._err, self._in, self._input, timeout)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            if isinstance(error, TimeoutError):
                raise TimedOut(f"{' '.join(self._argv[:4])} did not end within {timeout:g} seconds") from None
            raise
        done = Done(self._argv, os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]), stdout, stderr)
        if ok is not None and done.code not in ok:
            raise RunFailed(done)
        return done


def run(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes = b"",
    timeout: float | None = None,
    ok: Sequence[int] | None = (0,),
    keeping: Sequence[int] = (),
) -> Done:
    """Run to the end and return what came out; RunFailed unless the exit status is in `ok` (None: any)."""
    return Running(argv, cwd=cwd, env=env, input=input, keeping=keeping).finish(timeout=timeout, ok=ok)


def _exchange(out: int, err: int, into: int, data: bytes, timeout: float | None) -> tuple[bytes, bytes]:
    """Feed `data` and collect both outputs until they end; all three descriptors are closed."""
    collected: dict[int, list[bytes]] = {out: [], err: []}
    poll = select.poll()
    for fd in collected:
        poll.register(fd, select.POLLIN | select.POLLHUP)
    open_fds = {out, err}
    if into >= 0:
        os.set_blocking(into, False)
        poll.register(into, select.POLLOUT | select.POLLERR)
        open_fds.add(into)
    rest = memoryview(data)
    deadline = None if timeout is None else time.monotonic() + timeout
    try:
        while open_fds:
            left = None if deadline is None else (deadline - time.monotonic()) * 1000
            ready = poll.poll(left if left is None or left > 0 else 0)
            if not ready and left is not None and left <= 0:
                raise TimeoutError
            for fd, _ in ready:
                if fd == into:
                    try:
                        rest = rest[os.write(fd, rest[:65536]) :]
                    except BrokenPipeError:
                        rest = rest[len(rest) :]
                    finished = not rest
                else:
                    chunk = os.read(fd, 65536)
                    collected[fd].append(chunk)
                    finished = not chunk
                if finished:
                    poll.unregister(fd)
                    open_fds.discard(fd)
                    os.close(fd)
    finally:
        for fd in open_fds:
            os.close(fd)
    return b"".join(collected[out]), b"".join(collected[err])


def run_attached(argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run on the caller's own terminal and return the exit status."""
    pid = spawn(argv, cwd=cwd, env=env)
    while True:
        try:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except KeyboardInterrupt:
            continue  # the program on the terminal got it too, and decides


def become(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Replace this process by another program; returns never."""
    program = find_program(argv[0])
    if not program:
        raise MissingTool(f"the program {argv[0]} was not found", hint=f"Install {argv[0]}, or add its folder to PATH.")
    os.execve(program, list(argv), dict(env))


class Conversation:
    """A process that is talked to over its standard input and output, as bytes lines."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        with_complaints: bool = False,
        keeping: Sequence[int] = (),
    ) -> None:
        in_read, self._in = os.pipe()
        self._out, out_write = os.pipe()
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            self.pid = spawn(
                argv,
                env=env,
                stdin=in_read,
                stdout=out_write,
                stderr=out_write if with_complaints else null,
                keeping=keeping,
            )
        except BaseException:
            os.close(self._in)
            os.close(self._out)
            raise
        finally:
            for fd in (in_read, out_write, null):
                os.close(fd)
        self._buffer = bytearray()
        self._ended = False

    def send(self, data: bytes) -> None:
        """Write all of `data`."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._in, rest) :]

    def fileno(self) -> int:
        """The descriptor that becomes readable when a line may be there."""
        return self._out

    def line(self, timeout: float) -> bytes | None:
        """The next line without its end, or None when the process has ended; TimedOut otherwise."""
        deadline = time.monotonic() + timeout
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._more(deadline):
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def read(self, size: int, timeout: float) -> bytes:
        """The next `size` bytes; EOFError when the process ended before them."""
        deadline = time.monotonic() + timeout
        while len(self._buffer) < size:
            if not self._more(deadline):
                raise EOFError(f"process {self.pid} ended early")
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _more(self, deadline: float) -> bool:
        """Wait for more output until `deadline`; False at its end."""
        if self._ended:
            return False
        if not select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimedOut(f"process {self.pid} did not answer in time")
        chunk = os.read(self._out, 1 << 16)
        self._ended = not chunk
        self._buffer += chunk
        return True

    def close(self, patience: float = 2) -> int:
        """Close its input, wait up to `patience` seconds, make sure that it is gone; return its exit status."""
        with contextlib.suppress(OSError):
            os.close(self._in)
        deadline = time.monotonic() + patience
        with contextlib.suppress(OSError):
            while select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))[0]:
                if not os.read(self._out, 1 << 16):
                    break
            else:
                os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.close(self._out)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
