"""Finds the knobs of processes: memory and I/O limits of a cgroup, ionice, O_DIRECT, RWF_DONTCACHE, fadvise.

A process has knobs if it has a program in the scenario; those of workloads in other formats have none.
An open with a flag goes before the first use of a file; a program with opens of its own keeps its flags.
Left out: ``io.max`` of disks whose pages do not come and go request by request, which no model limits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pagecast._core import format_bytes
from pagecast.advice.knob import DISK, Knob, Line, Setting
from pagecast.advice.knobs import Host, serves_pages, udev_line
from pagecast.quantities import parse_quantity
from pagecast.toml_text import toml_key, toml_value

__all__ = ["opens_files", "process_knobs"]

_IONICE = {
    "idle": ("IOSchedulingClass=idle", "-c 3"),
    "best-effort 7": ("IOSchedulingPriority=7", "-c 2 -n 7"),
}
_SHARES_OF_DISK = (0.1, 0.25, 0.5, 0.75)
_MEMORY_FILES = {"memory.high": "MemoryHigh", "memory.max": "MemoryMax"}
_MEMORY = (256 << 20, 1 << 30, 4 << 30)


def process_knobs(host: Host, process: Mapping[str, Any]) -> Iterator[Knob]:
    """Give the knobs of a process.

    Parameters
    ----------
    host : Host
        Where it runs.
    process : mapping
        Its table in the scenario.

    Yields
    ------
    Knob
    """
    name = str(process["name"])
    key = f"process.{toml_key(name)}"
    group = process.get("cgroup", re.sub(r"\W", "-", re.sub(r"\{[^}]*\}", "", name)))
    joined = () if "cgroup" in process else (f"{key}.cgroup={toml_value(group)}",)
    folder = f"/sys/fs/cgroup/{group}"
    unit = f"{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}.service"
    unit_file = f"/etc/systemd/system/{unit}.d/90-pagecast.conf"

    def property_of_unit(text: str, value: str, file: str) -> Line:
        now = f"systemctl set-property --runtime {unit} '{text}'"
        return Line(unit_file, text, "[Service]", now, f'echo "{value}" > {folder}/{file}')

    yield from _limits(host, name, f"{host.key}.cgroup.{toml_key(group)}", joined, property_of_unit)
    if "ionice" not in process and any("service" in host.table["disk"][disk] for disk in host.disks):
        yield Knob(f"ionice of {name}", tuple(_ionice(host, name, key, unit_file)), is_ordered=False)
    program = process.get("do")
    if isinstance(program, list) and not opens_files(program):
        yield from _programs(name, key, program)


_HOW = {
    "O_DIRECT": "with O_DIRECT (dd oflag=direct or iflag=direct, fio direct=1), in calls of whole blocks",
    "RWF_DONTCACHE": "with RWF_DONTCACHE (pwritev2, preadv2; fio uncached=1)",
}


def _programs(name: str, key: str, program: Sequence[Any]) -> Iterator[Knob]:
    """Give the program with flags, and with advice on its files."""

    def knob(text: str, changed: Sequence[Any], line: str) -> Knob:
        setting = Setting(text, (f"{key}.do={toml_value(changed)}",), (Line("", f"{name}: {line}"),))
        return Knob(text, (setting,), effort=2.0)

    for flag in ("O_DIRECT", "RWF_DONTCACHE"):
        for kind in ("write", "read"):
            if changed := _with_flag(program, flag, kind):
                yield knob(f"{flag} for {kind}s of {name}", changed, f"{kind} {_HOW[flag]}")
    if (changed := _with_advice(program)) != [*program]:
        how = "POSIX_FADV_DONTNEED after the last use of each file (dd oflag=nocache or iflag=nocache)"
        yield knob(f"FADV_DONTNEED for files of {name}", changed, how)


def _limits(
    host: Host, name: str, key: str, joined: tuple[str, ...], property_of_unit: Any
) -> Iterator[Knob]:
    size = parse_quantity(str(host.table["memory"]["size"]))
    limits = [most for most in _MEMORY if size is not None and most < size.value / 2]
    for file, own in _MEMORY_FILES.items() if limits else ():
        yield Knob(
            f"{file} of {name}",
            tuple(
                Setting(
                    f"{file} of {name} {format_bytes(most)}",
                    (f"{key}.{file}={most} B", *joined),
                    (property_of_unit(f"{own}={most}", str(most), file),),
                )
                for most in limits
            ),
        )
    for disk in host.disks:
        table = host.table["disk"][disk]
        if not serves_pages(table):
            continue
        for what, limit, own in (
            ("write", "wbps", "IOWriteBandwidthMax"),
            ("read", "rbps", "IOReadBandwidthMax"),
        ):
            rate = parse_quantity(str(table[what]))
            assert rate is not None, "a described disk has its rates"
            most = [round(share * rate.value) for share in _SHARES_OF_DISK]
            yield Knob(
                f"io.max {limit} of {name} on {disk}",
                tuple(
                    Setting(
                        f"io.max {limit} of {name} {format_bytes(each)}/s",
                        (f"{key}.io.max.{disk}.{limit}={each} B/s", *joined),
                        (
                            property_of_unit(
                                f"{own}=/dev/{DISK} {each}",
                                f"$(cat /sys/block/{DISK}/dev) {limit}={each}",
                                "io.max",
                            ),
                        ),
                    )
                    for each in most
                ),
            )


def _ionice(host: Host, name: str, key: str, unit_file: str) -> Iterator[Setting]:
    """Give classes and levels, each with a scheduler that minds them."""
    disks = [disk for disk in host.disks if "service" in host.table["disk"][disk]]
    for scheduler in ("bfq", "mq-deadline"):
        for value, (written, option) in _IONICE.items():
            yield Setting(
                f"ionice of {name} {value} with {scheduler}",
                (
                    f"{key}.ionice={toml_value(value)}",
                    *(f"{host.key}.disk.{disk}.scheduler={scheduler}" for disk in disks),
                ),
                (
                    Line(unit_file, written, "[Service]", f"ionice {option} -p $(pidof {name})"),
                    udev_line("queue/scheduler", scheduler),
                ),
            )


def opens_files(program: Sequence[Any]) -> bool:
    """Tell whether a program opens files itself."""
    return any(
        "open" in each or "fopen" in each or "fd" in each or opens_files(each.get("do", ()))
        for each in program
    )


def _with_flag(program: Sequence[Any], flag: str, kind: str) -> list[Any]:
    """Put opens before the first use of each file that is read or written; nothing if there is none.

    A path with a parameter is opened where it is used, another one before the loop that uses it.
    """
    found: list[Any] = []
    seen: set[str] = set()
    for each in program:
        inner = dict(each)
        if isinstance(each.get("do"), list):
            plain = [path for path in _paths(each["do"], kind) if "{" not in path]
            found += [_opened(path, flag, kind) for path in dict.fromkeys(plain) if path not in seen]
            seen.update(plain)
            if any("{" in path for path in _paths(each["do"], kind)):
                inner["do"] = [
                    step
                    for one in each["do"]
                    for step in ([_opened(one[kind], flag, kind)] if "{" in str(one.get(kind, "")) else [])
                    + [one]
                ]
        elif kind in each and each[kind] not in seen:
            found.append(_opened(each[kind], flag, kind))
            seen.add(each[kind])
        found.append(inner)
    return found if len(found) > len(program) or found != [*program] else []


def _with_advice(program: Sequence[Any], *, is_outermost: bool = True) -> list[Any]:
    """Put "dontneed" after the last use of each file that is read or written.

    It stands in the loop for a path with a parameter, and after it for another one.
    """
    moved = {*_paths(program, "read"), *_paths(program, "write")}
    last = {path: number for number, each in enumerate(program) for path in _uses(each)}
    found: list[Any] = []
    for number, each in enumerate(program):
        is_loop = isinstance(each.get("do"), list)
        found.append({**each, "do": _with_advice(each["do"], is_outermost=False)} if is_loop else each)
        found += [
            {"fadvise": path, "advice": "dontneed"}
            for path, at in last.items()
            if at == number and path in moved and (not is_loop if "{" in path else is_outermost)
        ]
    return found


def _uses(step: Mapping[str, Any]) -> Iterator[str]:
    for each in step.get("do", ()):
        yield from _uses(each)
    yield from (step[key] for key in ("read", "write", "fsync", "fdatasync") if key in step)


def _paths(program: Sequence[Any], kind: str) -> list[str]:
    return [
        path
        for each in program
        for path in ([each[kind]] if kind in each else _paths(each.get("do", ()), kind))
    ]


def _opened(path: str, flag: str, kind: str) -> dict[str, Any]:
    return {"open": path, "flags": [flag]} | ({"create": True} if kind == "write" else {})
