"""How long `pagecast cache` takes on real files, beside vmtouch in the same run.

    python benches/cache.py [--dir DIR] [--repeat 5] [--large 8GB] [--out out/bench]

Whole commands are timed, with the start of Python in them. Before each eviction the files are read into
memory; after it the kernel is asked with mincore, which is not timed, what stayed. Needs a disk with room for
the large file, and memory for it. vmtouch writes nothing back, and so dirty files are no case for it.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pagecast import cache
from pagecast._core import format_bytes, parse_bytes

PAGECAST = [sys.executable, "-m", "pagecast", "cache"]
MANY, SOME = 100_000, 10_000
TRIES, ENOUGH = 5, 0.95
"""Some machines take back page cache that nobody needs; so much of the files must be there."""
BLOCK = b"\xa5" * (1 << 20)


@dataclass
class Row:
    """One case: seconds of each run, by the program that was timed."""

    name: str
    limit_s: float | None = None
    wall_s: dict[str, list[float]] = field(default_factory=dict)
    stayed_bytes: dict[str, int] = field(default_factory=dict)

    def time(self, who: str, command: list[str]) -> None:
        """Run a command and note how long it took."""
        begun = time.perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        self.wall_s.setdefault(who, []).append(time.perf_counter() - begun)
        if ended.returncode:
            raise SystemExit(f"{command}: {ended.stderr}")

    def verify(self, who: str, folder: Path) -> None:
        """Note what an eviction has left in memory, as mincore sees it."""
        left = cache.status(folder, method="mincore").totals()["cached_bytes"]
        self.stayed_bytes[who] = max(self.stayed_bytes.get(who, 0), left or 0)

    @property
    def is_within(self) -> bool:
        """Whether the limit holds."""
        return self.limit_s is None or statistics.median(self.wall_s["pagecast"]) <= self.limit_s


def small_files(folder: Path, count: int, size: int) -> Path:
    """Make a tree of small files, 1,000 to a directory."""
    for k in range(count):
        if k % 1000 == 0:
            (folder / f"{k // 1000:03}").mkdir(parents=True)
        (folder / f"{k // 1000:03}" / f"{k:06}").write_bytes(BLOCK[:size])
    return folder


def large_file(folder: Path, size: int) -> Path:
    """Make one large file."""
    folder.mkdir()
    with (folder / "large").open("wb") as file:
        for at in range(0, size, len(BLOCK)):
            file.write(BLOCK[: size - at])
        file.flush()
        os.fsync(file.fileno())
    return folder


def status_of_many(folder: Path, repeat: int) -> Row:
    """Time `status` and its peer, which counts pages only."""
    row = Row(f"status of {MANY:,} files", limit_s=1.5)
    for _ in range(repeat):
        row.time("pagecast", [*PAGECAST, "status", str(folder)])
        if shutil.which("vmtouch"):
            row.time("vmtouch", ["vmtouch", str(folder)])
    return row


def evict(name: str, folder: Path, repeat: int, before: Callable[[], object]) -> Row:
    """Time evictions of what `before` has put into memory."""
    row = Row(name)
    for _ in range(repeat):
        before()
        row.time("pagecast", [*PAGECAST, "evict", str(folder)])
        row.verify("pagecast", folder)
        if shutil.which("vmtouch") and "dirty" not in name:
            before()
            row.time("vmtouch", ["vmtouch", "-e", str(folder)])
            row.verify("vmtouch", folder)
    return row


def into_memory(folder: Path) -> None:
    """Read files into memory, or end the bench."""
    for _ in range(TRIES):
        cache.warm(folder)
        totals = cache.status(folder).totals()
        if (totals["cached_bytes"] or 0) >= ENOUGH * (totals["size_bytes"] or 0):
            return
    raise SystemExit(f"{folder} does not stay in memory; take a smaller --large")


def table(rows: list[Row]) -> str:
    """Give the rows in Markdown: median, and least to greatest."""
    lines = ["| case | pagecast | vmtouch | left in memory |", "|---|--:|--:|--:|"]
    for row in rows:
        cells = [seconds(row.wall_s.get(who)) for who in ("pagecast", "vmtouch")]
        left = " / ".join(format_bytes(value) for value in row.stayed_bytes.values())
        lines.append(f"| {row.name} | {cells[0]} | {cells[1]} | {left} |")
    return "\n".join(lines)


def seconds(times: list[float] | None) -> str:
    """Give the median and the range of some times."""
    if not times:
        return ""
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})"


def main() -> int:
    """Run the cases; 1 if a limit does not hold or something stayed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("out"), help="a folder on the disk to be used")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--large", type=parse_bytes, default=8 * 10**9, metavar="SIZE")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="bench-cache-") as name:
        place = Path(name)
        many = small_files(place / "many", MANY, 2000)
        os.sync()
        rows.append(status_of_many(many, options.repeat))
        some = small_files(place / "some", SOME, 4096)
        os.sync()
        rows.append(evict(f"evict {SOME:,} files of 4 KiB", some, options.repeat, lambda: into_memory(some)))
        dirty = place / "dirty"

        def write_again() -> None:
            shutil.rmtree(dirty, ignore_errors=True)
            small_files(dirty, SOME, 4096)

        rows.append(evict(f"evict {SOME:,} dirty files of 4 KiB", dirty, options.repeat, write_again))
        large = large_file(place / "large", options.large)
        rows.append(
            evict(
                f"evict one file of {format_bytes(options.large)}",
                large,
                options.repeat,
                lambda: into_memory(large),
            )
        )
    options.out.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    text = (
        f"{table(rows)}\n\nLinux {platform.release()}, {os.cpu_count()} cores, load {load:.1f} at the end.\n"
    )
    (options.out / "cache.md").write_text(text)
    (options.out / "cache.json").write_text(json.dumps({"rows": [asdict(row) for row in rows], "load": load}))
    print(text)
    cold = all(row.stayed_bytes.get("pagecast", 0) == 0 for row in rows)
    return 0 if cold and all(row.is_within for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
