"""Finds the knobs of a machine: dirty limits, disks, mounts, file servers, memory.

Values are around the present one. Dirty limits are in seconds of the slowest disk that is used, here or at a
server, as a limit of so many bytes says little by itself. Left out: what takes durability away
(``nobarrier``), io.weight without iocost, which the scenario language does not have, and the mount options of
XFS and Btrfs; and more requests than a disk without a scheduler has tags, which the kernel refuses.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pagecast._core import format_bytes
from pagecast.advice.knob import DISK, NETWORK_SERVER, Knob, Line, Setting
from pagecast.quantities import parse_quantity

__all__ = ["Host", "fstab_line", "has_schedulers", "host_knobs", "serves_pages", "sysctl_line", "udev_line"]

_MIB = 1 << 20
_SECONDS_OF_DISK = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_SYSCTL = "/etc/sysctl.d/90-pagecast.conf"
_UDEV = "/etc/udev/rules.d/90-pagecast.rules"
_SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
_MOST_REQUESTS = 2048
"""Of a scheduler (``block/blk-mq.h: MAX_SCHED_RQ``); without one the tags of the disk are the most."""

_OF_FLOWS = ("rotation", "raid", "burst", "write_cache", "unevenness", "read_at", "write_at")


@dataclass(frozen=True)
class Host:
    """A host of a scenario.

    Attributes
    ----------
    key : str
        Its table: ``machine`` or ``host.NAME``.
    label : str
        Its name if there are several hosts, else ``""``.
    table : mapping
        As `Machine.to_toml` describes it.
    disks : collection of str
        Those that are used.
    exports : collection of str
        Its mounts that other hosts mount.
    write_rates : collection of str
        Of the disks that it writes to, its own and those of its servers.
    """

    key: str
    label: str
    table: Mapping[str, Any]
    disks: Collection[str]
    exports: Collection[str] = ()
    write_rates: Collection[str] = ()

    def knob(self, name: str) -> str:
        """Give the name of a knob, with the host where there are several."""
        return f"{name} on {self.label}" if self.label else name


def host_knobs(host: Host) -> Iterator[Knob]:
    """Give the knobs of a host.

    Parameters
    ----------
    host : Host

    Yields
    ------
    Knob
    """
    yield from _dirty_limits(host)
    yield from _dirty_times(host)
    for disk in host.disks:
        yield from _disk(host, disk)
    for path in host.table.get("mount", {}):
        yield from _mount(host, path)
    yield from _server(host)
    yield from _memory(host)


def sysctl_line(name: str, value: object) -> Line:
    """Give the line of a setting of the kernel."""
    return Line(_SYSCTL, f"{name} = {value}", now=f"sysctl {name}={value}")


def udev_line(attribute: str, value: object) -> Line:
    """Give the rule of an attribute of a disk in sysfs."""
    rule = f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{DISK}", ATTR{{{attribute}}}="{value}"'
    return Line(_UDEV, rule, now=f"echo {value} > /sys/block/{DISK}/{attribute}")


def fstab_line(text: str) -> Line:
    """Give the line of a mount, and the command that mounts it anew."""
    source, path, kind, options, *_ = text.split(" ")
    return Line("/etc/fstab", text, now=f"umount {path} && mount -t {kind} -o {options} {source} {path}")


def serves_pages(disk: Mapping[str, Any]) -> bool:
    """Tell whether pages of a disk come and go request by request, which ``io.max`` needs."""
    return "service" in disk and not any(_is_given(disk.get(key)) for key in _OF_FLOWS)


def has_schedulers(host: Host, disk: str) -> bool:
    """Tell whether the model has schedulers of a disk: with `service`, since Linux 5.0."""
    is_served = "service" in host.table["disk"][disk]
    return is_served and host.table.get("kernel", {}).get("version", "6") >= "5"


def _is_given(value: object) -> bool:
    quantity = parse_quantity(value) if isinstance(value, str) else None
    return bool(value if quantity is None else quantity.value)


def _dirty_limits(host: Host) -> Iterator[Knob]:
    rates = [_bytes(rate) for rate in host.write_rates]
    if not rates:
        return
    vm = host.table.get("vm", {})
    sizes = [max(round(seconds * min(rates) / _MIB), 4) * _MIB for seconds in _SECONDS_OF_DISK]
    # Only half of the memory at most; the kernel halves a background limit that is not below the other.
    sizes = [size for size in dict.fromkeys(sizes) if size <= _bytes(host.table["memory"]["size"]) / 2]
    for name in ("dirty_bytes", "dirty_background_bytes"):
        present = _bytes(vm[name]) if name in vm else None
        settings = tuple(
            Setting(
                f"{name} {_mib(size)}",
                (f"{host.key}.vm.{name}={size} B",),
                (sysctl_line(f"vm.{name}", size),),
            )
            for size in sizes
            if size != present
        )
        if settings:
            yield Knob(host.knob(f"vm.{name}"), settings)


def _dirty_times(host: Host) -> Iterator[Knob]:
    values = {"dirty_expire_centisecs": (100, 500, 1500, 6000), "dirty_writeback_centisecs": (50, 100, 1500)}
    for name, choices in values.items():
        present = host.table.get("vm", {}).get(name)
        yield Knob(
            host.knob(f"vm.{name}"),
            tuple(
                Setting(
                    f"{name} {value}", (f"{host.key}.vm.{name}={value}",), (sysctl_line(f"vm.{name}", value),)
                )
                for value in choices
                if value != present
            ),
        )


def _disk(host: Host, disk: str) -> Iterator[Knob]:
    table = host.table["disk"][disk]
    key = f"{host.key}.disk.{disk}"

    def setting(name: str, value: object) -> Setting:
        line = udev_line(f"queue/{name}", value)
        return Setting(f"{name} {value}", (f"{key}.{name}={value}",), (line,))

    def settings(name: str, values: Collection[object]) -> tuple[Setting, ...]:
        present = table.get(name, "none" if name == "scheduler" else None)
        return tuple(setting(name, value) for value in values if value != present)

    is_throttled = table.get("wbt_lat_usec", 0) > 0
    yield Knob(host.knob(f"{disk} read_ahead_kb"), settings("read_ahead_kb", (0, 128, 512, 2048, 8192)))
    requests = int(table["nr_requests"])
    around = sorted({*(max(requests // part, 4) for part in (16, 8, 4, 2)), requests * 4})
    around = [count for count in around if count <= max(requests, _most_requests(table))]
    yield Knob(host.knob(f"{disk} nr_requests"), settings("nr_requests", around))
    yield Knob(host.knob(f"{disk} wbt_lat_usec"), (setting("wbt_lat_usec", 0 if is_throttled else 2000),))
    if has_schedulers(host, disk):
        yield Knob(host.knob(f"{disk} scheduler"), settings("scheduler", _SCHEDULERS), is_ordered=False)


def _most_requests(disk: Mapping[str, Any]) -> int:
    """Give the most that ``nr_requests`` of a disk can be; more requests than tags mean a scheduler."""
    requests = int(disk["nr_requests"])
    tags = int(disk.get("hw_queue_depth", disk.get("queue_depth", requests)))
    return _MOST_REQUESTS if disk.get("scheduler", "none") != "none" or requests > tags else tags


def _mount(host: Host, path: str) -> Iterator[Knob]:
    table = host.table["mount"][path]
    key = f'{host.key}.mount."{path}"'
    if "journal" in table and table.get("type", "ext4") in ("ext3", "ext4"):
        kind = table.get("type", "ext4")
        journal = table["journal"]

        def of_journal(name: str, value: str, option: str) -> Setting:
            line = fstab_line(f"/dev/{DISK} {path} {kind} defaults,{option} 0 2")
            if name == "commit_interval":
                line = replace(line, now=f"mount -o remount,{option} {path}")
            return Setting(option, (f"{key}.journal.{name}={value}",), (line,))

        yield Knob(
            host.knob(f"{path} commit"),
            tuple(of_journal("commit_interval", f"{value} s", f"commit={value}") for value in (1, 30, 60)),
        )
        if journal.get("data", "ordered") == "ordered":
            yield Knob(host.knob(f"{path} data"), (of_journal("data", "writeback", "data=writeback"),))
    if "nfs" in table:
        yield from _nfs_mount(host, path, table, key)
    if "striped" in table:
        yield from _striped(host, path, table, key)


def _nfs_mount(host: Host, path: str, table: Mapping[str, Any], key: str) -> Iterator[Knob]:
    server, _, export = table["nfs"].partition(":")

    def setting(option: str, override: str) -> Setting:
        line = fstab_line(f"{server or NETWORK_SERVER}:{export} {path} nfs4 defaults,{option} 0 0")
        return Setting(option, (f"{key}.{override}",), (line,))

    options = table.get("options", {})
    for name in ("rsize", "wsize"):
        present = _bytes(options.get(name, "1048576 B"))
        sizes = [size for size in (65536, 262144, 1048576) if size != present]
        yield Knob(
            host.knob(f"{path} {name}"),
            tuple(setting(f"{name}={size}", f"options.{name}={size} B") for size in sizes),
        )
    for name in ("nocto", "noac"):
        if not options.get(name, False):
            yield Knob(host.knob(f"{path} {name}"), (setting(name, f"options.{name}=true"),))
    if table.get("write_mode", "back") == "back":
        yield Knob(host.knob(f"{path} sync"), (setting("sync", "write_mode=through"),))


def _striped(host: Host, path: str, table: Mapping[str, Any], key: str) -> Iterator[Knob]:
    layout = table.get("layout", {})
    present = _bytes(layout.get("strip_size", "65536 B"))
    yield Knob(
        host.knob(f"{path} strip_size"),
        tuple(
            Setting(
                f"strip_size {_mib(size)}",
                (f"{key}.layout.strip_size={size} B",),
                (
                    Line(
                        "", f"new files of {path} in strips of {_mib(size)} (Lustre: lfs setstripe -S {size})"
                    ),
                ),
            )
            for size in (65536, 262144, 1048576, 4194304)
            if size != present
        ),
    )
    counts = {1, len(table["striped"]) // 2, len(table["striped"])} - {0, layout.get("stripe_count")}
    yield Knob(
        host.knob(f"{path} stripe_count"),
        tuple(
            Setting(
                f"stripe_count {count}",
                (f"{key}.layout.stripe_count={count}",),
                (Line("", f"new files of {path} on {count} servers (Lustre: lfs setstripe -c {count})"),),
            )
            for count in sorted(counts)
        ),
    )


def _server(host: Host) -> Iterator[Knob]:
    """Give the knobs of a file server; only a host whose mounts others mount has some."""
    if not host.exports:
        return
    present = host.table.get("nfsd", {}).get("threads", 8)
    yield Knob(
        host.knob("nfsd threads"),
        tuple(
            Setting(
                f"nfsd threads {count}",
                (f"{host.key}.nfsd.threads={count}",),
                (
                    Line(
                        "/etc/nfs.conf", f"threads={count}", "[nfsd]", f"echo {count} > /proc/fs/nfsd/threads"
                    ),
                ),
            )
            for count in (1, 8, 32, 128)
            if count != present
        ),
    )
    for path in host.exports:
        if host.table["mount"][path].get("export", "sync") == "sync":
            line = Line("/etc/exports", f"{path} *(rw,async)", now=f"exportfs -o rw,async '*:{path}'")
            yield Knob(
                host.knob(f"{path} export"),
                (Setting("export async", (f'{host.key}.mount."{path}".export=async',), (line,)),),
                effort=3.0,  # a crash of the server loses what clients take for durable
            )


def _memory(host: Host) -> Iterator[Knob]:
    size = _bytes(host.table["memory"]["size"])
    yield Knob(
        host.knob("memory"),
        tuple(
            Setting(
                f"memory {format_bytes(factor * size)}",
                (f"{host.key}.memory.size={factor * size} B",),
                (Line("", f"buy memory: {format_bytes(factor * size)} instead of {format_bytes(size)}"),),
            )
            for factor in (2, 4)
        ),
        effort=5.0,
    )


def _bytes(text: object) -> int:
    quantity = parse_quantity(str(text))
    assert quantity is not None, "a described machine has sizes and rates with units"
    return round(quantity.value)


def _mib(size: int) -> str:
    return f"{size // _MIB:,} MiB" if size >= _MIB else f"{size // 1024} KiB"
