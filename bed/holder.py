"""The process that holds anonymous memory: ``python -m bed.holder SIZE LEFT PIECE``, all in bytes.

A program of its own, which imports next to nothing: its own memory is held, too.
"""

import mmap
import sys
from pathlib import Path

__all__ = ["hold"]


def hold(size: int, left: int, piece: int) -> None:
    """Hold anonymous memory until standard input ends, so also when whoever started this is gone.

    `left` bytes more are touched and given back, but for a page of each `piece`. Hosts of virtual machines
    take free memory back where it is whole, and its first touch then takes the host many times as long as
    the kernel here: what a write costs would depend on how long ago the memory was used.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")  # whoever needs memory comes before this
    memory = mmap.mmap(-1, max(size + left, mmap.PAGESIZE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for start in range(0, len(memory), mmap.PAGESIZE):
        memory[start] = 1
    for start in range(0, left // piece * piece, piece):
        memory.madvise(mmap.MADV_DONTNEED, start + mmap.PAGESIZE, piece - mmap.PAGESIZE)
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    hold(*map(int, sys.argv[1:]))
