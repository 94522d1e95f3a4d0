"""Calibrates a server in its client's kernel by the case m_memory: a call, and the data of a WRITE.

Closing a file whose pages are durable is one CLOSE: its time beyond the round trip is that of a call. An
fsync of many WRITEs and a COMMIT takes the link's time for all bytes, two round trips, two calls, and the
server's time for the data of the last WRITE: it has done the others while they came. The first open of a
repetition makes the file: its time beyond those of a call is the server's for the name. Left out: that blocks
of a new file are zeroed; the journal's part of a new name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from pagecast.studies.live_kernel.calibration import CASE
from pagecast.studies.live_kernel.recordings import Recording

__all__ = ["ServerCosts", "server_costs"]


@dataclass(frozen=True, slots=True)
class ServerCosts:
    """Times of a call beside its data and the round trip, of the data of a WRITE, and of a new name.

    None is what was not recorded.
    """

    call_s: float | None
    write_s: float | None
    create_s: float | None


def server_costs(
    recordings: Iterable[Recording],
    *,
    rate_bytes_per_s: float,
    round_trip_s: float,
    header_bytes: int,
    wsize: int,
) -> ServerCosts:
    """Calibrate a server.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform; those of other cases are left alone.
    rate_bytes_per_s, round_trip_s : float
        Of the link, for bytes of messages.
    header_bytes : int
        Of a WRITE, beside its data.
    wsize : int
        Bytes of a WRITE.
    """
    closes: list[float] = []
    syncs: list[float] = []
    opens: list[float] = []
    for recording in recordings:
        if recording.case != CASE:
            continue
        written = 0
        opens += [call.duration_s for call in recording.calls if call.kind == "open"][:1]
        for call in recording.calls:
            if call.kind == "write":
                written += call.bytes
            elif call.kind == "fsync":
                writes = -(-written // wsize)
                if writes > 1:
                    syncs.append(
                        call.duration_s
                        - (written + writes * header_bytes) / rate_bytes_per_s
                        - 2 * round_trip_s
                    )
                written = 0
            elif call.kind == "close" and written == 0 and call.duration_s > round_trip_s:
                closes.append(call.duration_s - round_trip_s)
    call_s = median(closes) if closes else None
    last_s = median(syncs) - 2 * (call_s or 0.0) if syncs else None
    # Others of them make calls that the client needs once, as its first ACCESS.
    name_s = min(opens) - round_trip_s - (call_s or 0.0) if opens else None
    return ServerCosts(call_s, _positive(last_s), _positive(name_s))


def _positive(seconds: float | None) -> float | None:
    return seconds if seconds is not None and seconds > 0 else None
