"""A made-up kernel that records cases: every call takes what its costs say, nothing is ever throttled."""

import csv
import gzip
from dataclasses import dataclass, field

from pagecast.studies.live_kernel.case import CURRENT, parse

MIB = 2**20
PAGE = 4096

CALL_S = 2e-6
INSERT_S = 1e-6
RESERVE_S = 0.4e-6
FAULT_S = 0.5e-6
COPY_READ = 4e9
COPY_WRITE = 2e9
REMOVE_S = 0.25e-6
FSYNC_S = 1.25
"""What the made-up kernel costs; an fsync takes the same time always."""

USABLE_KIB = 1_000_000
RESERVE_KIB = 488_000
LIMIT_SHARE = 0.2
"""What the made-up kernel has of memory, and what it keeps of it."""

LIMIT_KIB = int((USABLE_KIB - RESERVE_KIB) * LIMIT_SHARE)

HARD_LIMIT_PAGES = 10_677
"""The hard limit before a traced case: that of the boot."""

DISK_WAS_WRITTEN_TO = ("a_write",)
"""Cases before which the made-up kernel wrote to the disk: it has a part of the dirty limit."""

M_MEMORY = """\
open 0 MNT/fm wct
write 0 0 64m 1m
fsync 0
mark rw4k
write 0 0 64m 4k
mark rw1m
write 0 0 64m 1m
close 0
open 0 MNT/fm r
mark rd4k
read 0 0 64m 4k
mark rd1m
read 0 0 64m 1m
mark rd16m
read 0 0 64m 16m
close 0
unlink MNT/fm
"""

A_WRITE = """\
open 0 MNT/old wct        # set-up
write 0 0 10m 1m
fsync 0
mark first
open 1 MNT/f wct
write 1 -1 100m 1m
stat after_write MNT/f
sleep 500
mark second
fsync 1
spin 250
"""

B_BOTH = """\
mark both
proc one
  open 0 MNT/one wct
  write 0 0 20m 1m
  fsync 0
endproc
proc two
  open 0 MNT/two wct
  fwrite 0 8m 4k 64k
  fsync 0
endproc
wait
mark end
open 2 MNT/one r
fread 2 1g 4k 64k
"""


MACHINE = """\
cores = 2
memory = { size = "1 GiB", read = "4 GB/s", write = "2 GB/s" }
disk.d = { size = "4 GiB", read = "200 MiB/s", write = "100 MiB/s" }
mount."/mnt" = { disk = "d" }
"""


@dataclass
class Recorder:
    """Runs the steps of a case in made-up time and keeps the rows of the tables."""

    case: str
    repetition: int
    io: list[dict] = field(default_factory=list)
    cache: list[dict] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    are_dropped: bool = False

    def run(self, steps, *, process="p0", now=0.0):
        """Run the steps of a process; gives the time at which it ends."""
        handles, children, touched = {}, [], 0
        for step in steps:
            of = step.arguments
            path = of.get("path", "").removeprefix("MNT/")
            match step.command:
                case "open":
                    handles[of["handle"]] = path
                    if path not in self.sizes or "t" in of["flags"]:
                        self.sizes[path] = 0
                    now = self.call(process, now, "open", path, 0, 1e-6)
                case "write" | "read" | "fwrite" | "fread":
                    path, size = handles[of["handle"]], of["size"]
                    each = (
                        of["call"]
                        if "buffer" not in of
                        else max(of["call"] // of["buffer"], 1) * of["buffer"]
                    )
                    start = 0 if of.get("offset", CURRENT) == CURRENT else of["offset"]
                    kind = step.command.removeprefix("f")
                    size = size if kind == "write" else min(size, self.sizes[path] - start)
                    step_bytes = max(each, MIB)
                    for at in range(start, start + size, step_bytes):
                        here = min(step_bytes, start + size - at)
                        calls = -(-here // each)
                        seconds = calls * CALL_S + here / (COPY_WRITE if kind == "write" else COPY_READ)
                        if kind == "write":
                            fresh = max(at + here - max(self.sizes[path], at), 0)
                            seconds += fresh / PAGE * INSERT_S
                            seconds += (here - fresh) / PAGE * (INSERT_S - RESERVE_S) * self.are_dropped
                            self.sizes[path] = max(self.sizes[path], at + here)
                        elif each > touched:
                            seconds += each / PAGE * FAULT_S
                            touched = each
                        now = self.call(process, now, kind, path, here, seconds, calls)
                case "fsync" | "fdatasync":
                    now = self.call(process, now, step.command, handles[of["handle"]], 0, FSYNC_S)
                case "sync" | "drop" | "dontneed":
                    self.are_dropped = step.command == "drop"
                    now = self.call(process, now, step.command, handles.get(of.get("handle"), ""), 0, 1e-3)
                case "sleep" | "spin":
                    now = self.call(process, now, step.command, "", 0, of["ms"] / 1000)
                case "mark":
                    now = self.call(process, now, "mark", of["label"], 0, 0.0)
                case "stat":
                    now += 0.01
                    self.cache.append(
                        self.key()
                        | {"proc": process, "t_s": now, "label": of["label"], "file": path}
                        | {"cached_bytes": self.sizes[path]}
                    )
                case "proc":
                    children.append(self.run(step.steps, process=of["label"], now=now))
                case "wait":
                    now = max([now, *children])
                case "close":
                    now = self.call(process, now, "close", path, 0, 1e-6)
                case "unlink":
                    seconds = self.sizes.pop(path) / PAGE * REMOVE_S
                    now = self.call(process, now, "unlink", path, 0, seconds)
        return now

    def key(self):
        """Give the columns that every table has."""
        return {"case": self.case, "rep": self.repetition}

    def call(self, process, now, kind, file, size, seconds, calls=1):
        """Note a call; gives the time at which it ends."""
        self.io.append(
            self.key()
            | {"proc": process, "t_start_s": round(now, 6), "op": kind, "file": file, "bytes": size}
            | {"duration_s": f"{seconds:.9f}", "calls": calls}
        )
        return now + seconds

    def levels(self, dirty_kib=0):
        """Sample the memory every 100 ms; the limit stays the same, and so does what is dirty."""
        end = max(row["t_start_s"] for row in self.io)
        for number in range(int(end / 0.1) + 1):
            yield self.key() | {
                "t_s": number / 10, "Dirty_kB": dirty_kib, "Writeback_kB": 0,
                "nr_dirty_threshold": LIMIT_KIB // 4, "BdiWriteBandwidth_kBps": 0 if number < 2 else 51200,
                "BdiDirtyThresh_kB": LIMIT_KIB if self.case in DISK_WAS_WRITTEN_TO else 0,
                "MemFree_kB": USABLE_KIB - 3000, "Active(file)_kB": 1000, "Inactive(file)_kB": 2000,
            }  # fmt: skip


def write_table(path, rows):
    """Write dictionaries as a gzipped CSV file."""
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def record(folder, cases, *, repetitions=1, traced=("a_write",)):
    """Record cases, given as texts by name, into the folder of a platform."""
    (folder / "cases").mkdir(parents=True)
    tracepoints = ("bdi_dirty_ratelimit", "global_dirty_state", "balance_dirty_pages")
    tables = {name: [] for name in ("io", "cache", "mem", *tracepoints)}
    for name, text in cases.items():
        (folder / "cases" / f"{name}.pct").write_text(text)
        for repetition in range(1, repetitions + 1):
            recorder = Recorder(name, repetition)
            recorder.run(parse(text, name=name, origin=name).steps)
            tables["io"] += recorder.io
            tables["cache"] += recorder.cache
            tables["mem"] += recorder.levels()
            if name in traced:
                limit = {"t_s": 1.0, "write_bw": 40000, "dirty_ratelimit": 30720}
                tables["bdi_dirty_ratelimit"] += [recorder.key() | limit]
                states = [{"t_s": 0.0, "limit": HARD_LIMIT_PAGES}, {"t_s": 1.0, "limit": LIMIT_KIB // 4}]
                tables["global_dirty_state"] += [recorder.key() | state for state in states]
                check = {"t_s": 1.0, "setpoint": 2560, "task_ratelimit": 20480}
                tables["balance_dirty_pages"] += [recorder.key() | check]
    for name, rows in tables.items():
        if rows:
            write_table(folder / f"{name}.csv.gz", rows)
    return folder
