"""Series of the paper's figures of which nothing was published: what the models say of them, alone.

Source: the paper's text, which has the settings: on Host 2 50 GB in chunks of 128 MB; with 25 and 75 % of the
writes over what is there, on both hosts. Ours, as no word is said of it: which chunk is written over is drawn
with equal chances from those that are there, and the others are appended.
"""

from dataclasses import replace
from typing import Final

from pagecast.studies.cawl.series import GIB, Series

__all__ = ["unpublished"]

PAUSES_S: Final = (0.0, 0.1, 0.2)
REWRITTEN: Final = (0.25, 0.75)

_HOST_1_WRITE: Final = Series(
    name="", host="host1", group="A", open_flags="buffered", io_method="write", access="sequential",
    pause_s=0.0, libc_buffer_bytes=None, chunk_bytes=GIB, size_min_bytes=None, writes=800,
    flush_start_write=None, throttled_write=None,
)  # fmt: skip
_HOST_2_WRITE: Final = replace(_HOST_1_WRITE, host="host2", group="", chunk_bytes=128 * 10**6, writes=390)


def unpublished() -> dict[str, Series]:
    """Give the series of Figures 6(b), 7 and 8(b) by name."""
    series = [
        *(replace(_HOST_2_WRITE, name=f"host2_async_p{p:g}", pause_s=p) for p in PAUSES_S),
        *(
            replace(
                _HOST_2_WRITE,
                name=f"host2_libc_p{p:g}",
                pause_s=p,
                io_method="fwrite",
                libc_buffer_bytes=4096,
            )
            for p in PAUSES_S
        ),
        *(
            replace(
                each,
                name=f"{each.host}_rewrite{100 * part:g}_p{p:g}",
                access="part rewritten",
                pause_s=p,
                rewritten=part,
            )
            for each in (_HOST_1_WRITE, _HOST_2_WRITE)
            for part in REWRITTEN
            for p in PAUSES_S[::2]
        ),
    ]
    return {each.name: each for each in series}
