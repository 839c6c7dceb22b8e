"""`ww explain`: which evidence, from when, gave a worker's status, and what was ignored."""

import time
from typing import Any

from woodwind.base import spool
from woodwind.base.clock import from_ms
from woodwind.model.verdict import Reason
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.deliver import sight_of
from woodwind.ops.listing import told_question, told_turn
from woodwind.store import readings

READINGS = 15


def explain(ctx: Context, worker: Worker) -> dict[str, Any]:
    """The verdict on a worker with its reasons."""
    sight = sight_of(ctx, worker)
    clock, wall = spool.now(), int(time.time() * 1000)

    def told(reason: Reason) -> dict[str, Any]:
        at = from_ms(wall - (clock.up - reason.up)).isoformat()
        return {"source": reason.source, "tells": str(reason.tells), "at": at, "why": reason.why}

    kept = readings.recent(ctx.store, worker.id)
    old = [s for s in kept if s.nonce != sight.row.nonce or s.boot != clock.boot]
    ignored = [told(reason) for reason in sight.verdict.ignored]
    ignored += [
        {
            "source": seen.reading.source,
            "tells": seen.reading.tells.value,
            "at": from_ms(seen.reading.at).isoformat(),
            "why": "it is from an earlier start of the agent"
            if seen.boot == clock.boot
            else "it is from before a reboot",
        }
        for seen in old[-READINGS:]
    ]
    return {
        "name": worker.name,
        "id": worker.id,
        "status": sight.verdict.status.value,
        "detail": sight.verdict.detail,
        "since": from_ms(sight.since).isoformat(),
        "reasons": [told(reason) for reason in sight.verdict.reasons],
        "ignored": ignored,
        "title": sight.pane.title if sight.pane else "",
        "turn": told_turn(sight.turn),
        "question": told_question(sight),
        "readings": [
            {
                "source": seen.reading.source,
                "tells": seen.reading.tells.value,
                "at": from_ms(seen.reading.at).isoformat(),
                "text": seen.reading.text,
            }
            for seen in kept[-READINGS:]
        ],
    }
