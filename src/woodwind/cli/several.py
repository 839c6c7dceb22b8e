"""One verb on several workers: what one of them refuses does not hide what was done to the others."""

from collections.abc import Callable, Sequence

from woodwind.model.errors import WoodwindError
from woodwind.model.typed import Any
from woodwind.model.worker import Worker


def each(
    chosen: Sequence[Worker], act: Callable[[Worker], dict[str, Any]], *, alone: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What was done to each, and who could not have it and why; with `alone`, that is an error as it is."""
    done: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for worker in chosen:
        try:
            done.append(act(worker))
        except WoodwindError as error:
            if alone:
                raise
            failed.append({"name": worker.name, "code": error.code, "error": error.message, "hint": error.hint})
    return done, failed
