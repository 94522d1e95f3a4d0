"""What it costs a real run to be looked at: the same workload with the sampler at several rates, in turn.

    python benches/run.py [--dir DIR] [--repeat 5] [--size 512MB] [--out out/bench]

Once a second stands for not at all. The workload is what looking disturbs most: system calls on cached pages
by as many programs as there are processors. Needs a disk with room for a file for each of them.
"""

import argparse
import json
import os
import platform
import statistics
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pagecast as pc
from pagecast._core import parse_bytes

RATES_HZ = (1, 10, 20, 50, 200)
MACHINE = """\
[machine]
cores = 1
memory = { size = "1 TB", read = "1 GB/s", write = "1 GB/s" }
disk.any = { size = "900 TB", read = "1 GB/s", write = "1 GB/s" }
mount."/data" = { disk = "any" }
"""


@dataclass
class Row:
    """One rate of the sampler: seconds of each run, and how much of one processor looking took."""

    sample_hz: int
    write_s: list[float] = field(default_factory=list)
    read_s: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)

    def add(self, result: pc.Measured) -> None:
        """Note a run: the means over its programs."""
        for kind, times in (("write", self.write_s), ("read", self.read_s)):
            rows = [row for row, name in enumerate(result.operations["operation"]) if name == kind]
            times.append(float(result.operations["duration_s"][rows].mean()))
        self.share.append(result.sampler_share)


def scenario(folder: Path, size: int) -> pc.Scenario:
    """Write new pages and read them again, in small calls, on all processors."""
    (folder / "machine.toml").write_text(MACHINE)

    def program(k: int) -> list[pc.Operation]:
        path = f"/data/f{k}"
        read = pc.read(path, call_bytes=4096)
        return [pc.write(path, size_bytes=size, call_bytes=4096), read, read, read]

    programs = {f"p{k}": program(k) for k in range(os.cpu_count() or 1)}
    return pc.Scenario(pc.load_machine(folder / "machine.toml"), processes=programs)


def table(rows: list[Row]) -> str:
    """Give the rows in Markdown: median, and least to greatest."""
    lines = ["| looks per second | write | read again | of one processor |", "|--:|--:|--:|--:|"]
    for row in rows:
        share = f"{100 * statistics.median(row.share):.2f} %"
        lines.append(f"| {row.sample_hz} | {seconds(row.write_s)} | {seconds(row.read_s)} | {share} |")
    return "\n".join(lines)


def seconds(times: list[float]) -> str:
    """Give the median and the range of some times."""
    return f"{statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})"


def main() -> int:
    """Run the cases in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("out"), help="a folder on the disk to be used")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--size", type=parse_bytes, default=512_000_000, metavar="SIZE")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [Row(rate) for rate in RATES_HZ]
    case = scenario(options.out, options.size)
    for _ in range(options.repeat):
        for row in rows:
            row.add(pc.run(case, dir=options.dir, sample_hz=row.sample_hz))
    load = os.getloadavg()[0]
    machine = f"Linux {platform.release()}, {os.cpu_count()} cores, load {load:.1f} at the end."
    text = f"{table(rows)}\n\n{machine}\n"
    (options.out / "run.md").write_text(text)
    (options.out / "run.json").write_text(json.dumps({"rows": [asdict(row) for row in rows], "load": load}))
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
