"""Searches that stay in memory between the slices of a process, so that they need no replay."""

import threading
from collections import OrderedDict
from typing import Protocol

from searches.models import SearchRun

KEPT_SEARCHES = 3


class Kept(Protocol):
    """The state of a run at one step, in memory; valid only while its row is at the same step."""

    run_id: int
    step: int


_kept: OrderedDict[int, Kept] = OrderedDict()
_lock = threading.Lock()


def take_kept(run: SearchRun) -> Kept | None:
    """Take the search of a run out of memory; None when there is none as of ``run.step``."""
    with _lock:
        kept = _kept.pop(run.pk, None)
    return kept if kept is not None and kept.step == run.step else None


def keep(live: Kept) -> None:
    """Keep a search for the next slice; the least recently used one goes."""
    with _lock:
        _kept[live.run_id] = live
        _kept.move_to_end(live.run_id)
        while len(_kept) > KEPT_SEARCHES:
            _kept.popitem(last=False)


def forget_all() -> None:
    """Drop every search kept in memory, as a new process would start."""
    with _lock:
        _kept.clear()
