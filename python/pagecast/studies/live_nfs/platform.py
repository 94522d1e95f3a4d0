"""Describes the two hosts and the link of a platform, from its own ``platform.txt``.

The file is what the recorder printed: uname, the kernel's command line, /proc/meminfo, sysctl, the mount, the
configuration of the link, exports and threads; then the same of a server with a kernel of its own, below a
line ``--- server``. README.md beside this file says which lines are read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagecast.errors import StudyError

__all__ = ["CLIENT_MOUNT", "COMMIT_COST", "DISK_WRITE", "EXPORT", "NAME_COSTS", "Platform", "read_platform"]

CLIENT_MOUNT: Final = "/n"
EXPORT: Final = "/export"

KIB: Final = 1024

HEADERS_INSIDE: Final = 52
HEADERS_BESIDE: Final = 14
"""Bytes of a packet that are no message's: TCP, IP and time stamps in its MTU, Ethernet's beside it."""

LIMITER_BURST: Final = "100 ms"
"""What blk-throttle lets pass at once after idle time (block/blk-throttle.c: DFL_THROTL_SLICE_HD)."""

MEMORY_RATE: Final = "10 GB/s"
"""Of memory and persistent memory: faster than the processor copies, whose rates are calibrated."""

VM: Final = (
    "dirty_ratio",
    "dirty_background_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "min_free_kbytes",
)


@dataclass(frozen=True, slots=True)
class Platform:
    """What ``platform.txt`` says of client and server, as tables of a scenario.

    Attributes
    ----------
    hosts : mapping of str
        `client` and `server`.
    link : mapping of str
    rate_bytes_per_s : float
        Of the link, for bytes of messages.
    round_trip_s : float
        What the delay of the link makes of it.
    wsize : int
        Bytes of a WRITE.
    vers : str
        Version of NFS.
    has_own_server : bool
        True if the server has a kernel of its own, with a page cache and a disk.
    """

    hosts: Mapping[str, Mapping[str, Any]]
    link: Mapping[str, Any]
    rate_bytes_per_s: float
    round_trip_s: float
    wsize: int
    vers: str
    has_own_server: bool

    def to_toml(self, values: Mapping[str, str]) -> str:
        """Write both hosts and the link; `values` are keys inside a host that were calibrated."""
        lines = []
        for name, host in self.hosts.items():
            own = {key: value for key, value in values.items() if self._has(name, key)}
            lines += [f"host.{name}.{key} = {value}" for key, value in (_flat(host) | _quoted(own)).items()]
        lines += [f"link.lan.{key} = {value}" for key, value in _flat(self.link).items()]
        return "\n".join(lines) + "\n"

    def _has(self, host: str, key: str) -> bool:
        """Tell whether a host has a key that was calibrated."""
        if host == "client":
            return key not in OF_SERVER
        return key in OF_SERVER or key in (OF_PROCESSOR if self.has_own_server else OF_COPYING)


DISK_WRITE: Final = "disk.disk.write"
"""The rate of the server's disk, where it is calibrated."""

COMMIT_COST: Final = f"mount.{json.dumps(EXPORT)}.commit"
"""The time of the server's processor for a commit."""

NAME_COSTS: Final = tuple(f"mount.{json.dumps(EXPORT)}.{change}" for change in ("create", "rename"))
"""The same for a new name, whose commit takes none where the journal has no requests."""

OF_SERVER: Final = ("nfsd.call", DISK_WRITE, COMMIT_COST, *NAME_COSTS)
"""What only the server has."""

OF_COPYING: Final = ("memory.cost.copy_read", "memory.cost.copy_write")
"""What a server on the client's processor has in common with it: its threads make no system calls."""

OF_PROCESSOR: Final = (*OF_COPYING, "memory.cost.page_insert")
"""The same of a server with a page cache."""


def read_platform(folder: Path) -> Platform:
    """Read ``platform.txt`` of a folder.

    Raises
    ------
    StudyError
        It is not there, or does not say what is needed.
    """
    path = folder / "platform.txt"
    try:
        client, _, server = path.read_text(encoding="utf-8").partition("--- server")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read ({error})") from error
    find = _Finder(str(path), client)
    options = find.text(r"^\s*opts:\s*(\S+)", "the options of the mount (opts: rw,vers=...)")
    mount: dict[str, Any] = {
        "nfs": f"server:{EXPORT}",
        "options": {
            **{name: f"{find.option(options, name)} B" for name in ("rsize", "wsize")},
            "vers": find.option(options, "vers"),
            **_attribute_options(options),
        },
    }
    if "sync" in options.split(","):
        mount["write_mode"] = "through"
    export = find.text(
        r"^configuration: .*\bexport (sync|async)\b", "the export (configuration: export sync)"
    )
    rate_bits = int(find.text(r"^configuration: .*\blink (\d+) bit/s", "the link (link N bit/s)"))
    delay_us = find.text(r"^configuration: .*\bdelay (\d+)us", "the delay of the link (delay N us)")
    mtu = int(find.text(r"\bmtu (\d+)", "", default="1500"))
    part = (mtu - HEADERS_INSIDE) / (mtu + HEADERS_BESIDE)
    rate_bytes_per_s = rate_bits / 8 * part
    link = {
        "between": ["client", "server"],
        "rate": f"{rate_bytes_per_s:.0f} B/s",
        "latency": f"{delay_us} us",
    }
    of_server = _own_server(_Finder(str(path), server)) if server else _dax_server(find)
    # With DAX there is no page cache to write into.
    kind = {"journal": {"data": "ordered"}} if server else {"write_mode": "through"}
    of_server["mount"] = {EXPORT: {"disk": "disk", "export": export, **kind}}
    of_server["nfsd"] = {"threads": int(find.text(r"nfsd threads (\d+)", "", default="8"))}
    hosts = {"client": _host(find) | {"mount": {CLIENT_MOUNT: mount}}, "server": of_server}
    wsize, vers = int(find.option(options, "wsize")), find.option(options, "vers")
    return Platform(hosts, link, rate_bytes_per_s, 2e-6 * int(delay_us), wsize, vers, bool(server))


def _host(find: "_Finder") -> dict[str, Any]:
    """Describe a host without its disks: version, limits and memory; one processor copies both ways."""
    usable = sum(find.kib(name) for name in ("MemFree", r"Active\(file\)", r"Inactive\(file\)"))
    kernel: dict[str, Any] = {"version": find.text(r"^Linux \S+ (\d+\.\d+)", "the version (Linux ... 6.12)")}
    if find.text(r"^(0x000\d)$", "", default="") == "0x0007":
        kernel["lru"] = "mglru"
    return {
        "cores": 1,
        "kernel": kernel,
        "vm": {name: int(find.text(rf"^vm\.{name} = (\d+)", f"vm.{name}")) for name in VM},
        "memory": {"size": f"{usable} KiB", "read": MEMORY_RATE, "write": MEMORY_RATE, "sharing": "time"},
    }


def _attribute_options(options: str) -> dict[str, Any]:
    """Give how long the mount believes attributes (nfs(5)), as far as its options say it."""
    said = dict(each.partition("=")[::2] for each in options.split(","))
    times = {name: f"{said[name]} s" for name in ("acregmin", "acregmax") if name in said}
    return times | {name: True for name in ("noac", "nocto") if name in said}


def _own_server(find: "_Finder") -> dict[str, Any]:
    """Describe a server with a kernel of its own: a limiter before a disk that is much faster."""
    rates = {
        key: find.text(rf"\b{name}=(\d+)", f"the rate of the disk ({name}=N)")
        for key, name in (("read", "rbps"), ("write", "wbps"))
    }
    disk = {key: f"{rate} B/s" for key, rate in rates.items()}
    return _host(find) | {"disk": {"disk": _disk(disk) | {"burst": LIMITER_BURST, "nr_requests": 100_000}}}


def _dax_server(find: "_Finder") -> dict[str, Any]:
    """Describe a server in the client's kernel on persistent memory: no page cache of its own, no disk."""
    if "dev=pmem" not in find.everything:
        raise StudyError(
            f"{find.origin}: the server is in the client's kernel and shares its dirty limit; a platform "
            "wants dev=pmem, or a server with a kernel of its own below `--- server`"
        )
    return _host(find) | {"disk": {"disk": _disk({"read": MEMORY_RATE, "write": MEMORY_RATE})}}


def _disk(rates: Mapping[str, str]) -> dict[str, Any]:
    return {"size": "64 GiB", **rates, "sharing": "separate"}


class _Finder:
    """Looks lines up in a text, and says which are missing."""

    def __init__(self, origin: str, text: str) -> None:
        self.origin, self.everything = origin, text

    def text(self, pattern: str, what: str, default: str | None = None) -> str:
        found = re.search(pattern, self.everything, re.MULTILINE)
        if found is None and default is None:
            raise StudyError(f"{self.origin}: it does not say {what}")
        return found[1] if found else str(default)

    def kib(self, name: str) -> int:
        return int(self.text(rf"^{name}: +(\d+) kB", f"{name} of /proc/meminfo"))

    def option(self, options: str, name: str) -> str:
        found = dict(each.partition("=")[::2] for each in options.split(","))
        if name not in found:
            raise StudyError(f"{self.origin}: the options of the mount do not have {name}=")
        return found[name]


def _flat(table: Mapping[str, Any]) -> dict[str, str]:
    """Give the values of nested tables by their dotted keys, as TOML."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        name = key if key.replace("_", "").isalnum() else json.dumps(key)
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": text for inner, text in _flat(value).items()}
        else:
            flat[name] = json.dumps(value)
    return flat


def _quoted(values: Mapping[str, str]) -> dict[str, str]:
    return {key: json.dumps(value) for key, value in values.items()}
