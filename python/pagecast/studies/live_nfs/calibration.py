"""Calibrates a server in its client's kernel by the case m_memory: a call, and the data of a WRITE.

Closing a file whose pages are durable is one CLOSE: its time beyond the round trip is that of a call. An
fsync of many WRITEs and a COMMIT takes the link's time for all bytes, two round trips, two calls, and the
server's time for the data of the last WRITE: it has done the others while they came. The first open of a
repetition makes the file, and its unlink removes it: both wait for a commit of the server beside their calls,
and for more; the shortest says what a commit takes. The fsync waits for one, too.

Without m_memory a call and a commit are the lower quartiles of such closes and opens of other cases, whose
other times are not looked at: calls beside other processes wait for theirs. Left out: that blocks of a new
file are zeroed; that an export `async` commits nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from pagecast.studies.live_kernel.calibration import CASE
from pagecast.studies.live_kernel.recordings import Recording

__all__ = ["ServerCosts", "server_costs"]


@dataclass(frozen=True, slots=True)
class ServerCosts:
    """Times of a call beside its data and the round trip, of the data of a WRITE, and of a commit.

    None is what was not recorded.
    """

    call_s: float | None
    write_s: float | None
    commit_s: float | None


def server_costs(
    recordings: Iterable[Recording],
    *,
    rate_bytes_per_s: float,
    round_trip_s: float,
    header_bytes: int,
    wsize: int,
    calls_of_unlink: int,
) -> ServerCosts:
    """Calibrate a server.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform.
    rate_bytes_per_s, round_trip_s : float
        Of the link, for bytes of messages.
    header_bytes : int
        Of a WRITE, beside its data.
    wsize : int
        Bytes of a WRITE.
    calls_of_unlink : int
        Version 4 returns the delegation of the file that was read, and removes it then.
    """
    of, others = _divided(recordings)
    closes = _bare_closes(of, round_trip_s)
    syncs: list[float] = []
    for recording in of:
        written = 0
        for call in recording.calls:
            if call.kind == "write":
                written += call.bytes
            elif call.kind == "fsync":
                writes = -(-written // wsize)
                if writes > 1:
                    bytes_sent = written + writes * header_bytes
                    syncs.append(call.duration_s - bytes_sent / rate_bytes_per_s - 2 * round_trip_s)
                written = 0
    call_s = median(closes) if closes else _quartile(_bare_closes(others, round_trip_s))
    one_s = round_trip_s + (call_s or 0.0)
    commits = [_first(each, "open") - one_s for each in of] + [
        _first(each, "unlink") - calls_of_unlink * one_s for each in of
    ]
    makes = [each - one_s for each in _first_opens(others) if each > one_s]
    commit_s = _positive(min(commits)) if commits else _quartile(makes)
    last_s = median(syncs) - 2 * (call_s or 0.0) - (commit_s or 0.0) if syncs else 0.0
    return ServerCosts(call_s, _positive(last_s), commit_s)


def _divided(recordings: Iterable[Recording]) -> tuple[list[Recording], list[Recording]]:
    """Give the recordings of m_memory, and those of other cases."""
    of: tuple[list[Recording], list[Recording]] = ([], [])
    for recording in recordings:
        of[recording.case != CASE].append(recording)
    return of


def _bare_closes(recordings: Sequence[Recording], round_trip_s: float) -> list[float]:
    """Give the times beyond the round trip of closes of files whose pages are durable."""
    closes: list[float] = []
    for recording in recordings:
        is_dirty: set[str] = set()
        for call in recording.calls:
            if call.kind == "write":
                is_dirty.add(call.file)
            elif call.kind == "fsync":
                is_dirty.discard(call.file)
            elif call.kind == "close":
                if call.file not in is_dirty and call.duration_s > round_trip_s:
                    closes.append(call.duration_s - round_trip_s)
                is_dirty.discard(call.file)
    return closes


def _first_opens(recordings: Sequence[Recording]) -> list[float]:
    """Give the time of the first open of each file of a repetition, which makes it."""
    first: dict[tuple[int, str], float] = {}
    for number, recording in enumerate(recordings):
        for call in recording.calls:
            if call.kind == "open":
                first.setdefault((number, call.file), call.duration_s)
    return list(first.values())


def _quartile(seconds: Sequence[float]) -> float | None:
    """Give the lower quartile, one of the values; None without any."""
    return sorted(seconds)[(len(seconds) - 1) // 4] if seconds else None


def _first(recording: Recording, kind: str) -> float:
    """Give the time of the first call of a kind; infinite if there is none."""
    return next((call.duration_s for call in recording.calls if call.kind == kind), math.inf)


def _positive(seconds: float) -> float | None:
    return seconds if 0 < seconds < math.inf else None
