"""Names keys of the machine that are given, and change nothing in this scenario."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from pagecast.api import Scenario
from pagecast.result import Result

__all__ = ["Host", "covering_mount", "host_tables", "of_result", "of_scenario", "table_name"]

Host: TypeAlias = Mapping[str, Any]

_RATIOS: Final = {
    "dirty_ratio": "dirty_bytes",
    "dirty_background_ratio": "dirty_background_bytes",
}
"""Keys of `vm`, and the one that replaces each under `kernel`."""

_OVERRIDE: Final = re.compile(r"""(?P<key>(?:"[^"]*"|'[^']*'|[^="'])*)=(?P<value>.*)""", re.DOTALL)


def of_scenario(scenario: Scenario, hosts: Mapping[str, Host]) -> Iterator[str]:
    """Name the keys that change nothing, whatever comes out.

    Parameters
    ----------
    scenario : Scenario
    hosts : mapping of str to Host
        From `host_tables`.

    Yields
    ------
    str
    """
    given = _given(scenario)
    in_use = _cgroups_in_use(scenario)
    for name, host in hosts.items():
        table = table_name(hosts, name)
        yield from _types(table, host)
        for ratio, in_bytes in _RATIOS.items():
            if f"{table}.vm.{ratio}" in given and in_bytes in host["vm"]:
                yield f"{table}.vm.{ratio} has no effect under `kernel`: {in_bytes} replaces it."
        for disk in _without_mount(host):
            yield f"{table}.disk.{disk} has no effect: no mount is on it."
        for cgroup in host.get("cgroup", {}):
            if in_use is not None and cgroup not in in_use:
                yield f"{table}.cgroup.{cgroup} has no effect: no process is in it."


def of_result(scenario: Scenario, hosts: Mapping[str, Host], result: Result) -> Iterator[str]:
    """Name the keys that changed nothing in a forecast by `kernel`.

    Parameters
    ----------
    scenario : Scenario
    hosts : mapping of str to Host
        From `host_tables`.
    result : Result

    Yields
    ------
    str
    """
    given = _given(scenario)
    read = _read_disks(result)
    used = _used_mounts(hosts, result)
    for name, host in hosts.items():
        table = table_name(hosts, name)
        for disk in host.get("disk", {}):
            key = f"{table}.disk.{disk}.read_ahead_kb"
            if key in given and (name, disk) not in read:
                yield f"{key} has no effect: nothing was read from the disk."
        limits = [key for key in host["vm"] if key.startswith("dirty_") and f"{table}.vm.{key}" in given]
        if limits and _writes_through_nfs(host) and not _has_write_back(result, name):
            yield (
                f"{table}.vm.{', '.join(limits)}: no effect, as every mount is NFS with "
                'write_mode = "through", and a write returns when the server has it.'
            )
        for path in host.get("mount", {}):
            is_unused = used is not None and (name, path) not in used
            if is_unused and any(key.startswith(f"{table}.mount.{path}.") for key in given):
                yield f'{table}.mount."{path}" has no effect: no operation and no file is on it.'


def host_tables(scenario: Scenario) -> dict[str, Host]:
    """Give the tables of all hosts, with defaults."""
    machine = scenario.machine
    described = tomllib.loads(machine.to_toml())
    return described.get("host") or {machine.hosts[0]: described["machine"]}


def table_name(hosts: Iterable[str], host: str) -> str:
    """Give the name of a host's table in a scenario."""
    return "machine" if [*hosts] == ["machine"] else f"host.{host}"


def covering_mount(host: Host, path: str) -> str | None:
    """Find the mount that a path is on."""
    covering = [
        each for each in host.get("mount", {}) if path == each or path.startswith(each.rstrip("/") + "/")
    ]
    return max(covering, key=len, default=None)


def _written(scenario: Scenario) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Give the tables of the text, and its overrides; None without a text that `tomllib` understands.

    The core reads TOML 1.1.
    """
    if scenario.toml is None:
        return None
    text, _, overrides = scenario.toml
    try:
        return tomllib.loads(text.decode("utf-8-sig")), overrides
    except tomllib.TOMLDecodeError:
        return None


def _given(scenario: Scenario) -> set[str]:
    """Give the keys that the scenario writes or overrides, without quotes and without those of `from`."""
    written = _written(scenario)
    if written is None:
        return set()
    tables, overrides = written
    found = set(_flat("", tables))
    for override in overrides:
        form = _OVERRIDE.fullmatch(override)
        assert form is not None, "the reader has refused an override without `=`"
        key = re.sub("[\"']", "", form["key"]).strip()
        found = {each for each in found if not each.startswith(f"{key}.")} | set(
            _flat(key, _value(form["value"]))
        )
    return found


def _flat(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield key
        return
    for name, inner in value.items():
        yield from _flat(f"{key}.{name}" if key else name, inner)


def _value(text: str) -> Any:
    """Read the value of an override; a text needs no quotes there."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _types(table: str, host: Host) -> Iterator[str]:
    for path, mount in host.get("mount", {}).items():
        disk = host.get("disk", {}).get(mount.get("disk"), {})
        has_rules = mount.get("type") in ("btrfs", "tmpfs") or "journal" in mount
        if "type" in mount and not has_rules and not disk.get("wbt_lat_usec"):
            yield (
                f'{table}.mount."{path}".type = "{mount["type"]}" matters only to copy_file_range, to '
                "RWF_DONTCACHE, and with write-back throttling to `kernel`: its disk has no "
                "wbt_lat_usec, and file systems without `journal` do not differ otherwise."
            )


def _without_mount(host: Host) -> Iterator[str]:
    mounts = host.get("mount", {}).values()
    used = {mount.get(key) for mount in mounts for key in ("disk", "journal_device")}
    yield from (disk for disk in host.get("disk", {}) if disk not in used)


def _cgroups_in_use(scenario: Scenario) -> set[str] | None:
    """Give the cgroups that processes name; None where the text does not tell for certain."""
    written = _written(scenario)
    if written is None:
        return None
    tables, overrides = written
    named = {str(process.get("cgroup", "")) for process in tables.get("process", [])}
    if any("{" in name for name in named) or any(each.startswith("process") for each in overrides):
        return None
    return named


def _read_disks(result: Result) -> set[tuple[str, str]]:
    table = result.devices
    told = zip(table["host"], table["device"], table["read_bytes"], strict=True)
    return {(host, device) for host, device, read in told if read > 0}


def _writes_through_nfs(host: Host) -> bool:
    mounts = host.get("mount", {}).values()
    return bool(mounts) and all("nfs" in each and each.get("write_mode") == "through" for each in mounts)


def _has_write_back(result: Result, host: str) -> bool:
    """Tell whether a flusher of a host has work: of files dirty at first, or above the threshold."""
    table = result.timeline
    is_work = (table["dirty_bytes"] > table["background_threshold_bytes"]) | (
        (table["dirty_bytes"] > 0) & (table["time_s"] == 0)
    )
    return any(name == host for name, work in zip(table["host"], is_work.tolist(), strict=True) if work)


def _used_mounts(hosts: Mapping[str, Host], result: Result) -> set[tuple[str, str]] | None:
    """Give the mounts with a file or an operation, and those of other hosts; None if `sync` writes all."""
    if "sync" in result.latency["operation"]:
        return None
    paths = {*result.latency["path"], *result.files["path"]}
    covering: dict[tuple[str, ...], set[str | None]] = {}
    used: set[tuple[str, str]] = set()
    for name, host in hosts.items():
        mounts = host.get("mount", {})
        if tuple(mounts) not in covering:
            covering[tuple(mounts)] = {covering_mount(host, path) for path in paths}
        used |= {(name, mount) for mount in covering[tuple(mounts)] if mount is not None}
        for mount in mounts.values():
            sources = [mount.get("nfs"), mount.get("metadata"), *mount.get("striped", [])]
            places = [source.partition(":") for source in sources if source]
            used |= {(server, export) for server, _, export in places}
    return used
