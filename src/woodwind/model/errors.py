"""The one error that a user sees: what was wanted, what was found, what to do next."""

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 3
EXIT_MISSING_TOOL = 4
EXIT_TIMED_OUT = 5
EXIT_PARTLY = 6
EXIT_INTERRUPTED = 130


class WoodwindError(Exception):
    """An expected failure. `code` is stable for scripts, `hint` says what to do next."""

    exit_code = EXIT_FAILED
    code = "failed"

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code


class Refused(WoodwindError):
    """The operation would have been unsafe, so nothing was changed."""

    code = "refused"


class UsageError(WoodwindError):
    """The words of the call do not fit."""

    exit_code = EXIT_USAGE
    code = "usage"


class ConfigError(WoodwindError):
    """A configuration file or variable that cannot be used as it is."""

    exit_code = EXIT_USAGE
    code = "config"


class NotFound(WoodwindError):
    """A worker, project, file or ref that was named and is not there."""

    exit_code = EXIT_NOT_FOUND
    code = "not_found"


class MissingTool(WoodwindError):
    """An outside program that is needed is missing or cannot be used."""

    exit_code = EXIT_MISSING_TOOL
    code = "missing_tool"


class TimedOut(WoodwindError):
    """Something did not answer in its time."""

    exit_code = EXIT_TIMED_OUT
    code = "timed_out"


class NeedsPerson(WoodwindError):
    """Part of it is done, or only a person can decide how it goes on."""

    exit_code = EXIT_PARTLY
    code = "needs_person"
