"""Shows and changes the real page cache: cold without root, warm, locked, and proof.

Examples
--------
>>> from pagecast import cache
>>> files = cache.find(["data"])                                # doctest: +SKIP
>>> cache.status(files).totals()["cached_bytes"]                # doctest: +SKIP
>>> cache.evict(files).is_cold                                  # doctest: +SKIP
>>> with cache.lock(files):                                     # doctest: +SKIP
...     run_the_benchmark()
"""

from pagecast.cache.changes import Eviction, Lock, Warming, drop, evict, lock, warm
from pagecast.cache.cold import Run, Trial, cold
from pagecast.cache.files import Files, Problem, Status, find, status
from pagecast.cache.proactive import proactive_reclaim
from pagecast.cache.sync_time import SyncTime, sync_time

__all__ = [
    "Eviction",
    "Files",
    "Lock",
    "Problem",
    "Run",
    "Status",
    "SyncTime",
    "Trial",
    "Warming",
    "cold",
    "drop",
    "evict",
    "find",
    "lock",
    "proactive_reclaim",
    "status",
    "sync_time",
    "warm",
]
