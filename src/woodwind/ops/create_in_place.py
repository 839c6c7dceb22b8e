"""`ww new --in-place`: a worker on a branch in the user's own checkout."""

import os
from collections.abc import Mapping
from typing import Any

from woodwind.base.files import locked
from woodwind.git import checkouts, worktrees
from woodwind.git.identity import lock_of
from woodwind.model.brief import FOLDER
from woodwind.ops.context import Context
from woodwind.ops.create import Create
from woodwind.ops.in_place import check_checkout
from woodwind.ops.journal import Step


class CreateInPlace(Create):
    """Like `Create`, in the user's own checkout, which is switched to the branch and, when undone, back again."""

    kind = "branch"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        super().__init__(ctx, args)
        self.git_dir: str = args["git_dir"]
        self.previous: str = args["previous"]

    @staticmethod
    def checked_place(ctx: Context) -> dict[str, Any]:
        return {"git_dir": ctx.repo.git_dir, "previous": check_checkout(ctx)}

    def place_steps(self) -> list[Step]:
        return [
            Step("branch", self._make_branch, self._drop_branch),
            Step("switch", self._switch, self._switch_back),
            Step("brief", self._write_brief, self._drop_brief),
        ]

    def _switch(self) -> None:
        with locked(lock_of(self.common)):
            checkouts.switch(self.tree.path, self.git_dir, self.tree.branch)
            worktrees.write_record(self.git_dir, self.worker.record())

    def _switch_back(self) -> None:
        with locked(lock_of(self.common)):
            checkouts.drop_record(self.git_dir, self.worker.id)
            if checkouts.branch_at(self.git_dir) == self.tree.branch:
                checkouts.switch(self.tree.path, self.git_dir, self.previous)

    def _write_brief(self) -> None:
        folder = os.path.join(self.tree.path, FOLDER)
        if checkouts.is_our_folder(folder):
            checkouts.drop_folder(folder)  # left by an earlier worker here
        super()._write_brief()

    def _drop_brief(self) -> None:
        checkouts.drop_folder(os.path.join(self.tree.path, FOLDER))
