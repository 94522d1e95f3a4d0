"""Draws the figures of the site from forecasts and from rules of the library; `conf.py` calls `draw`."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from net_pages import net_pictures
from range_figures import ranges_timeline
from sweep_figures import sweep_pareto, sweep_tornado

import pagecast as pc
from pagecast import _core
from pagecast.plot.axes import quiet_frame
from pagecast.plot.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LEVEL_COLOURS,
    ORANGE,
    PART_COLOURS,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
)

MB: Final = 1e6
GB: Final = 1e9
KIB: Final = 1024
PAGE_BYTES: Final = 4096

MACHINE: Final = """
[machine]
cores = 4
memory = { size = "8 GB", read = "8000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "500 GB", read = "500 MB/s", write = "200 MB/s", latency = "100 us" }
mount."/data".disk = "ssd"
"""
"""What the figures are drawn for, if their captions say nothing else."""

FIRST: Final = """
[machine]
from = "wrench-cluster"
memory.size = "64 GB"
[[file]]
path = "/data/in"
size = "20 GB"
[[process]]
name = "app"
do = [
  { read = "/data/in" },
  { compute = "28 s" },
  { write = "/data/out", size = "20 GB" },
  { read = "/data/out" },
]
"""
"""The scenario of README.md."""


def forecast(text: str, *overrides: str, machine: str = MACHINE, residency: str = "end") -> pc.Result:
    """Ask `kernel` about a scenario."""
    scenario = pc.Scenario.from_toml(machine + text, set=list(overrides))
    return pc.simulate(scenario, model="kernel", residency=residency)


def one_plot(height: float) -> Axes:
    """Begin a figure of one plot."""
    return plt.subplots(figsize=(8, height))[1]


def first_forecast() -> Figure:
    """Memory over time in the scenario of README.md."""
    axes = pc.plot.timeline(forecast(FIRST, machine=""))
    axes.set_title("")
    axes.figure.set_size_inches(8, 3.6)
    return axes.figure


def throttle_curve() -> Figure:
    """Position ratio of one device over the dirty level, and the pause of a writer."""
    limit, background = _core.dirty_thresholds(2_000_000, dirty_ratio=20, dirty_background_ratio=10)
    setpoint = ((limit + background) // 2 + limit) // 2
    bandwidth = 50_000
    levels = np.linspace(background, limit, 400).astype(int)
    ratios, rates, pauses_ms = [], [], []
    for dirty in levels:
        ratio, exact = _core.position_ratio(
            limit=limit,
            background=background,
            dirty=int(dirty),
            device_limit=limit,
            device_background=background,
            device_dirty=int(dirty),
            bandwidth=bandwidth,
        )
        free = dirty <= (limit + background) // 2
        rate = _core.task_ratelimit(bandwidth, ratio)
        ratios.append(np.nan if free else exact)
        rates.append(rate * PAGE_BYTES / MB)
        _, pause, _ = _core.writer_pause(
            dirty_ratelimit=bandwidth,
            task_ratelimit=max(rate, 1),
            bandwidth=bandwidth,
            device_dirty=int(dirty),
            hz=1000,
            dirtied=512,
            think=0,
        )
        pauses_ms.append(np.nan if free else pause or 0)
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True)
    at = levels / limit
    above.plot(at, ratios, color=BLUE)
    above.set_ylabel("position ratio")
    below.plot(at, pauses_ms, color=ORANGE)
    below.set_ylabel("pause for 2 MiB (ms)")
    below.set_xlabel("dirty and under writeback, as a part of the limit")
    marks = {
        "background threshold": background,
        "end of free run": (limit + background) / 2,
        "setpoint": setpoint,
        "limit": limit,
    }
    for axes in (above, below):
        quiet_frame(axes)
        axes.set_ylim(bottom=0)
        for pages in marks.values():
            axes.axvline(pages / limit, color=GREY, linewidth=0.8, linestyle=":")
    for name, pages in marks.items():
        above.annotate(
            name, (pages / limit, 1.02), xycoords=("data", "axes fraction"), ha="center", fontsize=8
        )
    return figure


def flusher_timeline() -> Figure:
    """Dirty memory while a flusher runs for age, and then above the background threshold."""
    result = forecast("""
[[process]]
name = "writer"
do = [
  { write = "/data/a", size = "300 MB" }, { sleep = "10 s" }, { write = "/data/b", size = "300 MB" },
  { sleep = "40 s" }, { write = "/data/c", size = "1.1 GB" }, { sleep = "45 s" },
]
""")
    axes = one_plot(height=3.6)
    table = result.timeline
    time_s = table["time_s"]
    axes.plot(
        time_s, table["dirty_bytes"] / GB, color=LEVEL_COLOURS["dirty"], label="dirty or under writeback"
    )
    axes.plot(
        time_s,
        table["background_threshold_bytes"] / GB,
        color=SKY,
        linestyle=":",
        label="background threshold",
    )
    written = np.array(table["writeback_bytes"]) > 0
    axes.fill_between(
        time_s,
        0,
        1,
        where=written,
        step="post",
        transform=axes.get_xaxis_transform(),
        color=YELLOW,
        alpha=0.3,
        linewidth=0,
        label="the flusher writes",
    )
    axes.set_xlabel("time (s)")
    axes.set_ylabel("memory (GB)")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


def pieces(path: str, begin: int, end: int, size: str = "125 MB") -> list[str]:
    """Write reads of a file in equal pieces as operations of a scenario."""
    number, unit = size.split()
    return [
        f'{{ read = "{path}", offset = "{n * int(number)} {unit}", size = "{size}" }}'
        for n in range(begin, end)
    ]


def re_read(*overrides: str) -> pc.Result:
    """Read 2 GB twice, then a stream of 10 GB; and both once more."""
    twice = 2 * pieces("/data/twice", 0, 16)
    steps = [*twice, *pieces("/data/stream", 0, 80), *twice, *pieces("/data/stream", 80, 160)]
    return forecast(
        f"""
[[file]]
path = "/data/twice"
size = "2 GB"
[[file]]
path = "/data/stream"
size = "20 GB"
[[process]]
name = "reader"
do = [ {", ".join(steps)} ]
""",
        *overrides,
        residency="operation",
    )


def draw_survivor(result: pc.Result, axes: Axes) -> None:
    """Draw how much of the file that was read twice is cached after each operation."""
    files = result.files
    rows = [path == "/data/twice" for path in files["path"]]
    axes.plot(
        files["time_s"][rows], files["cached_bytes"][rows] / GB, color=BLACK, label="the file read twice"
    )
    axes.set_xlabel("time (s)")
    axes.set_ylabel("cached (GB)")


def two_lists() -> Figure:
    """A file that was read twice is active and survives a stream."""
    axes = one_plot(height=3.2)
    result = re_read()
    table = result.timeline
    lists = (table["active_bytes"] / GB, table["inactive_bytes"] / GB)
    axes.stackplot(
        table["time_s"], *lists, colors=[PURPLE, SKY], alpha=0.5, labels=["active list", "inactive list"]
    )
    draw_survivor(result, axes)
    return with_legend(axes)


def generations() -> Figure:
    """Under the multi-generational lists the first stream evicts that file, the second one does not."""
    axes = one_plot(height=3.2)
    result = re_read("machine.kernel.lru=mglru")
    table = result.timeline
    axes.fill_between(
        table["time_s"],
        table["cached_bytes"] / GB,
        color=SKY,
        alpha=0.5,
        linewidth=0,
        label="all generations",
    )
    draw_survivor(result, axes)
    return with_legend(axes)


def watermarks() -> Figure:
    """Free memory falls to the low mark, and kswapd frees up to the high mark and to the end of its pass."""
    min_kib = 262_144
    result = forecast(
        """
[[file]]
path = "/data/in"
size = "20 GB"
[[process]]
name = "reader"
do = [ { read = "/data/in" } ]
""",
        f"machine.vm.min_free_kbytes={min_kib}",
        f"machine.memory.reserve={3 * min_kib // 2} KiB",  # the high mark: nothing is kept by lower zones
    )
    axes = one_plot(height=3.2)
    table = result.timeline
    axes.plot(table["time_s"], table["free_bytes"] / GB, color=GREEN, label="free memory")
    for name, factor, style in (("high", 1.5, "--"), ("low", 1.25, "-."), ("min", 1.0, ":")):
        axes.axhline(
            factor * min_kib * KIB / GB, color=GREY, linestyle=style, linewidth=1, label=f"{name} mark"
        )
    first_s = float(table["time_s"][np.argmax(table["free_bytes"] < 0.6 * GB)])
    axes.set_xlim(first_s - 1, first_s + 4)
    axes.set_ylim(0, 1.2)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("memory (GB)")
    return with_legend(axes)


def cgroup_limits() -> Figure:
    """Dirty memory of one writer on the whole host, and in a memory cgroup of either version."""
    axes = one_plot(height=3.4)
    cases = {
        "whole host": ("", (), BLUE, "-"),
        "memory.max of 2 GB (v2)": (
            'cgroup = "small"',
            ('machine.cgroup.small={memory.max="2 GB"}',),
            ORANGE,
            "--",
        ),
        "memory.limit_in_bytes of 2 GB (v1)": (
            'cgroup = "small"',
            ('machine.cgroup.small={memory.limit_in_bytes="2 GB"}',),
            PURPLE,
            "-.",
        ),
    }
    for name, (where, overrides, colour, style) in cases.items():
        result = forecast(
            f"""
[[process]]
name = "writer"
{where}
do = [ {{ write = "/data/out", size = "6 GB", call = "1 MiB" }} ]
""",
            *overrides,
        )
        table = result.timeline
        axes.plot(table["time_s"], table["dirty_bytes"] / GB, color=colour, linestyle=style, label=name)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("dirty (GB)")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


def tmpfs_beside_a_disk() -> Figure:
    """Write a file into a tmpfs, then one onto a disk, and remove the first."""
    result = forecast(
        """
[[process]]
name = "p"
do = [
  { write = "/dev/shm/a", size = "4 GB", call = "1 MiB" },
  { sleep = "2 s" },
  { write = "/data/b", size = "3 GB", call = "1 MiB" },
  { sleep = "6 s" },
  { unlink = "/dev/shm/a" },
  { sleep = "2 s" },
]
""",
        'machine.mount."/dev/shm"={type="tmpfs"}',
    )
    axes = one_plot(height=3.4)
    table = result.timeline
    for level, style in (("cached", "-"), ("dirty", "--")):
        values = table[f"{level}_bytes"] / GB
        axes.plot(table["time_s"], values, color=LEVEL_COLOURS[level], linestyle=style, label=level)
    values = table["dirty_limit_bytes"] / GB
    axes.plot(table["time_s"], values, color=BLACK, linewidth=1, label="dirty limit")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("memory (GB)")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


def nfs_write_and_close() -> Figure:
    """Write a file over a link and close it: the pages of the client, and those of the server."""
    result = forecast(
        """
[host.client]
cores = 4
memory = { size = "8 GB", read = "8000 MB/s", write = "2000 MB/s" }
mount."/remote".nfs = "server:/export"
[host.server]
cores = 4
memory = { size = "8 GB", read = "8000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "500 GB", read = "100 MB/s", write = "100 MB/s" }
mount."/export".disk = "ssd"
[link.lan]
between = ["client", "server"]
rate = "100 MB/s"
latency = "100 us"
[[process]]
name = "writer"
do = [
  { open = "/remote/f", create = true },
  { write = "/remote/f", size = "600 MB", call = "1 MiB" },
  { close = "/remote/f" },
]
""",
        machine="",
    )
    _, plots = plt.subplots(2, 1, figsize=(8, 4.4), sharex=True)
    for axes, host in zip(plots, ("client", "server"), strict=True):
        table = result.timeline
        rows = np.asarray(table["host"]) == host
        for level, colour, style in (("dirty", VERMILION, "-"), ("writeback", BLUE, "--")):
            values = table[f"{level}_bytes"][rows] / GB
            axes.plot(table["time_s"][rows], values, color=colour, linestyle=style, label=level)
        axes.set_ylabel(f"{host} (GB)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="center right", frameon=False, fontsize=9)
        quiet_frame(axes)
    plots[-1].set_xlabel("time (s)")
    return plots[0].figure


def read_ahead_windows() -> Figure:
    """Read a file 4 KiB at a time and watch how much of it is cached after each call."""
    calls = 128
    steps = ", ".join(pieces("/data/in", 0, calls, "4 KiB"))
    result = forecast(
        f"""
[[file]]
path = "/data/in"
size = "16 MiB"
[[process]]
name = "reader"
do = [ {steps} ]
""",
        residency="operation",
    )
    cached_kib = result.files["cached_bytes"][result.files["index"] >= 0] / KIB
    waited_us = result.operations["duration_s"] * MB
    position_kib = 4 * (1 + np.arange(calls))
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.4), sharex=True)
    above.step(position_kib, cached_kib[:calls], where="post", color=GREEN, label="read ahead")
    above.plot(position_kib, position_kib, color=GREY, linestyle="--", label="read")
    above.set_ylabel("bytes of the file (KiB)")
    above.legend(frameon=False)
    below.bar(position_kib, waited_us, width=3, color=BLUE)
    below.set_ylabel("time of the call (us)")
    below.set_xlabel("position of the reader (KiB)")
    for axes in (above, below):
        quiet_frame(axes)
    return figure


def fsync_queue() -> Figure:
    """An fsync of 4 KiB beside a writer waits for all requests that are in the queue of the disk."""
    axes = one_plot(height=3.2)
    depths = [16, 32, 64, 128, 256]
    for memory, colour, marker in (("8 GB", BLUE, "o"), ("32 GB", ORANGE, "x")):
        mean_ms = []
        for depth in depths:
            result = forecast(
                """
[[process]]
name = "writer"
do = [ { write = "/data/big", size = "30 GB", call = "1 MiB" } ]
[[process]]
name = "log"
start = "60 s"
do = [ { repeat = 20, do = [
  { write = "/data/log", size = "4 KiB", append = true }, { fsync = "/data/log" }, { sleep = "1 s" } ] } ]
""",
                f"machine.disk.ssd.nr_requests={depth}",
                f"machine.memory.size={memory}",
            )
            rows = [operation == "fsync" for operation in result.operations["operation"]]
            mean_ms.append(1000 * float(np.mean(result.operations["duration_s"][rows])))
        axes.plot(depths, mean_ms, color=colour, marker=marker, label=f"{memory} of memory", fillstyle="none")
    full_ms = [1000 * depth * 1280 * KIB / (200 * MB) for depth in depths]
    axes.plot(
        depths, full_ms, color=GREY, linestyle=":", label="bytes of the full queue by the rate of the disk"
    )
    axes.set_xlabel("nr_requests, of 1280 KiB each")
    axes.set_ylabel("mean fsync (ms)")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


def write_back_throttling() -> Figure:
    """How much is on its way to a disk with write-back throttling and without."""
    axes = one_plot(height=3.2)
    for name, latency, colour, style in (
        ("wbt_lat_usec = 0", 0, GREY, "--"),
        ("wbt_lat_usec = 2000", 2000, VERMILION, "-"),
    ):
        result = forecast(
            """
[[process]]
name = "writer"
do = [ { write = "/data/out", size = "2.4 GB", call = "1 MiB" }, { sleep = "8 s" } ]
""",
            f"machine.disk.ssd.wbt_lat_usec={latency}",
            "machine.disk.ssd.nr_requests=128",
            "machine.disk.ssd.queue_depth=128",
        )
        table = result.timeline
        axes.plot(
            table["time_s"],
            table["writeback_bytes"] / (1280 * KIB),
            color=colour,
            linestyle=style,
            label=name,
        )
    axes.set_xlabel("time (s)")
    axes.set_ylabel("requests of 1280 KiB")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


def journal_commit() -> Figure:
    """What fsync waits for after different changes of a file."""
    result = forecast(
        """
[[file]]
path = "/data/f"
size = "1 MiB"
[[process]]
name = "program"
do = [
  { write = "/data/f", size = "4 KiB", append = true }, { fsync = "/data/f" }, { fsync = "/data/f" },
  { sleep = "1 s" }, { write = "/data/f", size = "4 KiB", offset = "0 B" }, { fsync = "/data/f" },
  { sleep = "1 s" }, { write = "/data/f", size = "4 KiB", offset = "0 B" }, { fdatasync = "/data/f" },
]
""",
        'machine.mount."/data".commit="2 ms"',
        'machine.disk.ssd.flush="1 ms"',
    )
    syncs = [n for n, name in enumerate(result.operations["operation"]) if "sync" in name]
    names = [
        "fsync after an append",
        "fsync once more",
        "fsync after an overwrite",
        "fdatasync after an overwrite",
    ]
    axes = one_plot(height=2.6)
    left = np.zeros(len(syncs))
    for part in result.parts:
        values = result.parts[part]
        if part.endswith("_s") and values[syncs].any():
            values_ms = 1000 * values[syncs]
            key = part.removesuffix("_s")
            axes.barh(names, values_ms, left=left, color=PART_COLOURS[key], label=key.replace("_", " "))
            left += values_ms
    axes.invert_yaxis()
    axes.set_xlabel("time (ms)")
    return with_legend(axes)


def sample_instants() -> Figure:
    """The instants at which the model looks at its levels while one process writes."""
    result = forecast("""
[[process]]
name = "writer"
do = [ { write = "/data/out", size = "3 GB", call = "1 MiB" }, { sleep = "10 s" } ]
""")
    table = result.timeline
    axes = one_plot(height=3.2)
    axes.plot(table["time_s"], table["dirty_bytes"] / GB, color=LEVEL_COLOURS["dirty"], linewidth=0.8)
    axes.plot(
        table["time_s"], table["dirty_bytes"] / GB, ".", markersize=4, color=BLUE,
        label=f"instants of the driver: {len(table['time_s'])} for 2862 calls and 732,422 pages",
    )  # fmt: skip
    axes.set_xlabel("time (s)")
    axes.set_ylabel("dirty (GB)")
    axes.set_ylim(bottom=0)
    return with_legend(axes)


NETWORK: Final = """
[network]
topology = "star"
transport = "10gbe"
latency = "20 us"
[host.client]
cores = 4
memory = { size = "8 GB", read = "20 GB/s", write = "20 GB/s" }
mount."/nfs".nfs = "server:/data"
[host.server]
cores = 4
memory = { size = "8 GB", read = "20 GB/s", write = "20 GB/s" }
disk.ssd = { size = "500 GB", read = "2 GB/s", write = "2 GB/s" }
mount."/data".disk = "ssd"
"""
"""A client and a server, connected by 10 Gbit/s over a switch."""


def network_levels() -> Figure:
    """How fast a client reads files that the server has cached, by their size, as flows and in segments."""
    axes = one_plot(height=3.2)
    sizes = [4 * KIB << step for step in range(15)]
    for mtu, colour in ((1500, BLUE), (9000, ORANGE)):
        for level, line in (("flow", "-"), ("segment", "--")):
            rates = [_read_over(size, f"network.mtu={mtu} B", f"network.level={level}") for size in sizes]
            axes.plot(
                [size / KIB for size in sizes], rates, line, color=colour, label=f"MTU {mtu} B, {level} level"
            )
    axes.set_xscale("log", base=2)
    axes.set_xlabel("file (KiB)")
    axes.set_ylabel("read (MB/s)")
    return with_legend(axes)


def _read_over(size: int, *overrides: str) -> float:
    """Read a file that the server has cached; MB/s."""
    text = f"""
[[file]]
path = "/data/in"
host = "server"
size = "{size} B"
cached = "{size} B"
[[process]]
name = "app"
host = "client"
do = [ {{ read = "/nfs/in" }} ]
"""
    result = forecast(text, *overrides, machine=NETWORK)
    return float(size / result.operations["duration_s"][0] / MB)


FIGURES: Final[dict[str, Callable[[], Figure]]] = {
    "first_forecast": first_forecast,
    "throttle_curve": throttle_curve,
    "flusher_timeline": flusher_timeline,
    "two_lists": two_lists,
    "generations": generations,
    "watermarks": watermarks,
    "cgroup_limits": cgroup_limits,
    "tmpfs_beside_a_disk": tmpfs_beside_a_disk,
    "nfs_write_and_close": nfs_write_and_close,
    "network_levels": network_levels,
    "read_ahead_windows": read_ahead_windows,
    "fsync_queue": fsync_queue,
    "write_back_throttling": write_back_throttling,
    "journal_commit": journal_commit,
    "sample_instants": sample_instants,
    "sweep_tornado": sweep_tornado,
    "sweep_pareto": sweep_pareto,
    "ranges_timeline": ranges_timeline,
}

NETS: Final = net_pictures()
"""The pages of nets, as SVG."""


def with_legend(axes: Axes) -> Figure:
    """Finish a figure of one plot."""
    quiet_frame(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=4, frameon=False, fontsize=9)
    return axes.figure


def draw(folder: Path) -> None:
    """Write all figures as SVG, the same bytes each time."""
    mpl.use("Agg")
    with mpl.rc_context({"svg.hashsalt": "pagecast", "font.size": 10}):
        for name, make in FIGURES.items():
            figure = make()
            figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
            plt.close(figure)
    for name, picture in NETS.items():
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
