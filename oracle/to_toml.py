"""An oracle scenario as a scenario file of pagecast's.

What it models: the same hosts, files and processes; options of `wrench` become `[model.wrench]`.
Source: the reference of the scenario file in docs/.
Leaves out: nothing; each size and time is written in its base unit, so nothing is rounded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields

from .engine import to_ns
from .flows import Points
from .kernel.settings import Bdi, Cost, MountCost, Vm
from .machine import Device, Host, Mount
from .scenario import Op, Process, Scenario

DISK_BYTES = 10**15


def to_toml(scenario: Scenario, **options: float | str) -> str:
    return "\n".join(_lines(scenario, options)) + "\n"


def _lines(scenario: Scenario, options: Mapping[str, float | str]) -> Iterator[str]:
    has_one_host = len(scenario.hosts) == 1
    if options:
        yield "[model.wrench]"
        yield from (_option(name, value) for name, value in options.items())
    for name, host in scenario.hosts.items():
        yield from _host("machine" if has_one_host else f"host.{name}", name, host, scenario.mounts)
    for name, link in scenario.links.items():
        yield f"[link.{name}]"
        yield f"between = {_list(scenario.hosts)}"
        yield f'rate = "{link.bytes_per_s!r} B/s"\nlatency = {_time(link.latency_s)}\nsharing = "shared"'
    for path, file in scenario.files.items():
        yield f'[[file]]\npath = "{path}"\nsize = {_size(file.size)}\ncached = {_size(file.cached)}'
        if not has_one_host:
            yield f'host = "{file.host}"'
    for process in scenario.processes:
        yield from _process(process, has_one_host)


def _option(name: str, value: float | str) -> str:
    match name:
        case "chunk_bytes":
            return f"chunk = {_size(value)}"
        case "dirty_ratio":
            return f'dirty_ratio = "{value * 100:.0f} %"'
        case "flush_period_s":
            return f"period = {_time(value)}"
        case "dirty_expiry_s":
            return f"expiry = {_time(value)}"
    return f'{name} = "{value}"'


def _host(table: str, name: str, host: Host, mounts: dict[str, Mount]) -> Iterator[str]:
    yield f"[{table}]\ncores = {host.cores}"
    yield f"[{table}.memory]\nsize = {_size(host.memory_bytes)}"
    yield from _device(host.memory)
    yield from _cost(f"{table}.memory.cost", host.cost)
    yield from _vm(f"{table}.vm", host.vm)
    for disk, device in host.disks.items():
        yield f"[{table}.disk.{disk}]\nsize = {_size(DISK_BYTES)}"
        yield from _device(device)
        yield from _bdi(device.bdi)
        if device.wbt is not None:
            yield f"nr_requests = {device.wbt.queue_depth}\nwbt_lat_usec = 2000"
    for path, mount in mounts.items():
        if mount.host == name:
            mode = "through" if mount.write_through else "back"
            yield f'[{table}.mount."{path}"]\ndisk = "{mount.disk}"\nwrite_mode = "{mode}"'
            if mount.file_system != "ext4":
                yield f'type = "{mount.file_system}"'
            yield from _prices(mount.cost)
        elif mount.link is not None:
            yield f'[{table}.mount."{path}"]\nnfs = "{mount.host}:{path}"'


def _bdi(bdi: Bdi) -> Iterator[str]:
    """The settings that are not the default."""
    for key in fields(Bdi):
        value = getattr(bdi, key.name)
        if value != key.default:
            yield f"{key.name} = {str(value).lower()}"


def _vm(table: str, vm: Vm) -> Iterator[str]:
    """The settings that are not the default."""
    if vm != Vm():
        yield f"[{table}]"
    for key in fields(Vm):
        value = getattr(vm, key.name)
        if value != key.default:
            yield f"{key.name} = {_size(value) if key.name.endswith('_bytes') else value}"


def _cost(table: str, cost: Cost) -> Iterator[str]:
    if cost != Cost():
        yield f"[{table}]"
        yield from _prices(cost)


def _prices(cost: Cost | MountCost) -> Iterator[str]:
    """What is not the default."""
    for key in fields(cost):
        value = getattr(cost, key.name)
        if value == key.default:
            continue
        if key.name.endswith("_bytes_per_s"):
            yield f'{key.name.removesuffix("_bytes_per_s")} = "{value!r} B/s"'
        elif key.name.endswith("_s"):
            yield f"{key.name.removesuffix('_s')} = {_time(value)}"
        else:
            yield f"{key.name} = {value!r}"


def _device(device: Device) -> Iterator[str]:
    yield f'read = "{device.read_bytes_per_s!r} B/s"\nwrite = "{device.write_bytes_per_s!r} B/s"'
    yield f'sharing = "{device.sharing}"'
    if device.read_at:
        yield f"read_at = {_rates(device.read_at)}"
    if device.write_at:
        yield f"write_at = {_rates(device.write_at)}"
    if device.per_thread_bytes_per_s is not None:
        yield f'per_thread = "{device.per_thread_bytes_per_s!r} B/s"'


def _process(process: Process, has_one_host: bool) -> Iterator[str]:
    yield f'[[process]]\nname = "{process.name}"'
    if not has_one_host:
        yield f'host = "{process.host}"'
    if process.after:
        yield f"after = {_list(process.after)}"
    if process.start_s:
        yield f"start = {_time(process.start_s)}"
    yield "do = ["
    yield from (f"  {{ {_operation(op)} }}," for op in process.ops)
    yield "]"


def _operation(op: Op) -> str:
    match op.kind:
        case "read":
            size = "" if op.size is None else f", size = {_size(op.size)}"
            buffer = "fresh" if op.is_fresh else "reused"
            return f'read = "{op.path}", offset = {_size(op.offset)}{size}, buffer = "{buffer}"{_call(op)}'
        case "write":
            place = "append = true" if op.offset is None else f"offset = {_size(op.offset)}"
            return f'write = "{op.path}", {place}, size = {_size(op.size)}{_call(op)}'
        case "open":
            return f'open = "{op.path}", create = true, truncate = {str(op.truncates).lower()}'
        case "truncate":
            return f'truncate = "{op.path}", size = {_size(op.size)}'
        case "fadvise":
            return f'fadvise = "{op.path}", advice = "dontneed"'
        case "compute" | "sleep":
            return f"{op.kind} = {_time(op.seconds)}"
        case "alloc":
            return f"alloc = {_size(op.size)}"
        case "free":
            return 'free = "all"' if op.size is None else f"free = {_size(op.size)}"
        case "drop_caches":
            return "drop_caches = true"
    return f'{op.kind} = "{op.path}"'  # fsync, unlink


def _call(op: Op) -> str:
    return "" if op.call_bytes is None else f", call = {_size(op.call_bytes)}"


def _size(size: float | None) -> str:
    return f'"{size} B"'


def _time(seconds: float) -> str:
    return f'"{to_ns(seconds)} ns"'


def _rates(points: Points) -> str:
    return "{ " + ", ".join(f'"{n}" = "{rate!r} B/s"' for n, rate in points) + " }"


def _list(names: object) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
