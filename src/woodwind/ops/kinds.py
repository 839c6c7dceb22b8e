"""Every kind of journalled operation, so that one which died halfway can be settled."""

from collections.abc import Callable, Mapping
from typing import Any

from woodwind.ops.context import Context
from woodwind.ops.create import Create
from woodwind.ops.create_in_place import CreateInPlace
from woodwind.ops.journal import Operation
from woodwind.ops.land_branch import LandBranch
from woodwind.ops.landing_batch import QueuedLand
from woodwind.ops.landing_steps import Land
from woodwind.ops.purge import Purge
from woodwind.ops.remove import Leave, Remove
from woodwind.ops.restore import ComeBack, Restore
from woodwind.ops.resume import Resume
from woodwind.ops.sync import Sync
from woodwind.ops.undo import TakeBack
from woodwind.ops.undo_queue import TakeBackQueue

KINDS: dict[str, Callable[[Context, Mapping[str, Any]], Operation]] = {
    Create.kind: Create,
    CreateInPlace.kind: CreateInPlace,
    Land.kind: Land,
    LandBranch.kind: LandBranch,
    TakeBack.kind: TakeBack,
    QueuedLand.kind: QueuedLand,
    TakeBackQueue.kind: TakeBackQueue,
    Leave.kind: Leave,
    ComeBack.kind: ComeBack,
    Remove.kind: Remove,
    Restore.kind: Restore,
    Purge.kind: Purge,
    Resume.kind: Resume,
    Sync.kind: Sync,
}
