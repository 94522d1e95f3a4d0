"""Cases of journals: what a durable write, a name and a stream cost under a file system's journal.

They are those of docs/validation/live-block.md, in the language of the study `live-kernel`.
"""

from collections.abc import Callable
from typing import Final

__all__ = ["CASES", "text_of"]

BLOCK: Final = 4096
STREAM_JOURNALS: Final = 4
"""A stream is so many times the journal."""


def text_of(name: str, journal_mib: int) -> str:
    """Write the steps of a case for a journal of so many MiB."""
    return "".join(f"{line}\n" for line in CASES[name](journal_mib))


_BEGIN: Final = ["drop", "sleep 500", "mark start"]


def _appends(path: str, calls: int, sync: str) -> list[str]:
    steps = [f"open 0 MNT/{path} wct"]
    for at in range(calls):
        steps += [f"write 0 {at * BLOCK} {BLOCK} {BLOCK}", f"{sync} 0"]
    return [*steps, "close 0"]


def _append(sync: str) -> Callable[[int], list[str]]:
    return lambda _: [*_BEGIN, *_appends("a", 500, sync)]


def _over(_: int) -> list[str]:
    steps = ["open 0 MNT/a wct", "write 0 0 16m 1m", "fsync 0", "close 0", *_BEGIN, "open 0 MNT/a rw"]
    for at in range(500):
        steps += [f"write 0 {at * 4 * BLOCK} {BLOCK} {BLOCK}", "fsync 0"]
    return [*steps, "close 0"]


def _parallel(processes: int, calls: int) -> Callable[[int], list[str]]:
    def steps(_: int) -> list[str]:
        found = list(_BEGIN)
        for number in range(processes):
            found += [f"proc s{number}", *_appends(f"p{number}", calls, "fsync"), "endproc"]
        return [*found, "wait"]

    return steps


def _create_fsync(_: int) -> list[str]:
    steps = list(_BEGIN)
    for number in range(200):
        steps += [f"open 0 MNT/c{number} wct", "write 0 0 16k 16k", "fsync 0", "close 0"]
    return steps


def _create_unlink(_: int) -> list[str]:
    steps = list(_BEGIN)
    for number in range(2000):
        steps += [f"open 0 MNT/u{number} wct", "close 0"]
    return [*steps, "mark unlink", *(f"unlink MNT/u{number}" for number in range(2000)), "sync"]


def _rename(syncs: bool) -> Callable[[int], list[str]]:
    def steps(_: int) -> list[str]:
        found = ["open 0 MNT/t wct", "write 0 0 16k 16k", "fsync 0", "close 0", *_BEGIN]
        for _number in range(200):
            found += ["open 0 MNT/t.new wct", "write 0 0 16k 16k", *(["fsync 0"] if syncs else []), "close 0"]
            found += ["rename MNT/t.new MNT/t"]
        return [*found, "sync"]

    return steps


def _stream(journal_mib: int) -> list[str]:
    size = STREAM_JOURNALS * journal_mib
    return [*_BEGIN, "open 0 MNT/a wct", f"write 0 0 {size}m 1m", "close 0", "mark sync", "sync"]


def _beside(_: int) -> list[str]:
    log = ["open 0 MNT/log wct"]
    for at in range(60):
        log += [f"write 0 {at * BLOCK} {BLOCK} {BLOCK}", "fsync 0", "sleep 100"]
    writer = ["proc w", "open 0 MNT/big wct", "write 0 0 640m 1m", "close 0", "endproc"]
    return [*_BEGIN, *writer, "proc f", *log, "close 0", "endproc", "wait", "sync"]


def _commits(_: int) -> list[str]:
    return [*_BEGIN, "open 0 MNT/a wct", "owrite 0 57600k 16k 64m 5000", "sleep 2000", "close 0"]


CASES: Final[dict[str, Callable[[int], list[str]]]] = {
    "append_fsync": _append("fsync"),
    "append_fdatasync": _append("fdatasync"),
    "over_fsync": _over,
    "par4_append_fsync": _parallel(4, 100),
    "par16_append_fsync": _parallel(16, 40),
    "create_fsync": _create_fsync,
    "create_unlink": _create_unlink,
    "rename_over": _rename(True),
    "rename_nofsync": _rename(False),
    "stream4j": _stream,
    "bg_fsync": _beside,
    "commit_append": _commits,
}
"""The steps of each case, for a journal of so many MiB."""
