"""Finds the knobs of a scenario: those of its hosts, and of the processes that move most."""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pagecast.advice.knob import Knob, Setting
from pagecast.advice.knobs import Host, host_knobs
from pagecast.advice.programs import process_knobs

if TYPE_CHECKING:
    from pagecast.api import Scenario
    from pagecast.result import Result

__all__ = ["find_hosts", "find_knobs", "is_form_of", "largest_processes", "programs_of", "used_disks"]

_MOST_PROCESSES = 6
"""Of so many processes, those that move most, makespans are costs and settings are tried."""


def used_disks(result: "Result") -> list[tuple[str, str]]:
    """Give host and name of each disk that a result used."""
    table = result.devices
    return [*dict.fromkeys(zip(table["host"], table["device"], strict=True))]


def largest_processes(result: "Result") -> list[str]:
    """Give the processes that moved most, six at most, the largest first."""
    table = result.latency
    moved: dict[str, int] = {}
    for process, size in zip(table["process"], table["bytes"].tolist(), strict=True):
        if process:
            moved[process] = moved.get(process, 0) + size
    return sorted(moved, key=lambda process: -moved[process])[:_MOST_PROCESSES]


def find_hosts(scenario: "Scenario", used: Collection[tuple[str, str]] | None) -> dict[str, Host]:
    """Describe the hosts of a scenario.

    Parameters
    ----------
    scenario : Scenario
    used : collection of tuple of str or None
        As `used_disks` gives them; None for all disks.

    Returns
    -------
    dict of str to Host
        By name, in the order of `Scenario.hosts`.
    """
    described = tomllib.loads(scenario.machine.to_toml())
    tables: Mapping[str, Any] = described.get("host") or {scenario.hosts[0]: described["machine"]}
    if used is None:
        used = [(name, disk) for name, table in tables.items() for disk in table.get("disk", {})]
    sources = {name: [*_sources(table)] for name, table in tables.items()}
    exports = {place for places in sources.values() for place in places}

    def writing(name: str) -> Iterator[Mapping[str, Any]]:
        """Give the disks that a host writes to, its own and those of its servers."""
        places = [(name, path) for path in tables[name].get("mount", {})]
        places += [(server, path) for server, _, path in (each.partition(":") for each in sources[name])]
        for server, path in places:
            disk = tables[server]["mount"][path].get("disk")
            if (server, disk) in used:
                yield tables[server]["disk"][disk]

    return {
        name: Host(
            f"host.{name}" if "host" in described else "machine",
            name if len(tables) > 1 else "",
            table,
            [disk for host, disk in used if host == name and disk in table.get("disk", {})],
            [path for path in table.get("mount", {}) if f"{name}:{path}" in exports],
            [str(disk["write"]) for disk in writing(name)],
        )
        for name, table in ((name, tables[name]) for name in scenario.hosts)
    }


def _sources(table: Mapping[str, Any]) -> Iterator[str]:
    """Give what the mounts of a host mount of others, as ``server:/path``."""
    for mount in table.get("mount", {}).values():
        yield from (place for place in (mount.get("nfs"), *mount.get("striped", ())) if place)


def find_knobs(
    hosts: Mapping[str, Host],
    text: bytes,
    overrides: Sequence[str],
    moving: Collection[str],
) -> Iterator[Knob]:
    """Give the knobs of hosts and processes.

    Parameters
    ----------
    hosts : mapping of str to Host
        As `find_hosts` gives them; the first one is that of processes which name none.
    text : bytes
        TOML of the scenario.
    overrides : sequence of str
        That were set in it.
    moving : collection of str
        Names of the processes that have knobs, as `largest_processes` gives them.

    Yields
    ------
    Knob
        With one setting at least.
    """
    for knob in _all_knobs(hosts, text, overrides, moving):
        if knob.settings:
            yield knob


def _all_knobs(
    hosts: Mapping[str, Host], text: bytes, overrides: Sequence[str], moving: Collection[str]
) -> Iterator[Knob]:
    for host in hosts.values():
        mounts = host.table.get("mount", {}).values()
        if host.disks or any("nfs" in mount or "striped" in mount for mount in mounts):
            for knob in host_knobs(host):
                yield _with_lines_on(
                    host, knob, [replace(each, text=host.knob(each.text)) for each in knob.settings]
                )
    first = next(iter(hosts.values()))
    for process in programs_of(text, overrides, moving):
        host = hosts.get(process.get("host", ""), first)
        for knob in process_knobs(host, process):
            yield _with_lines_on(host, knob, knob.settings)


def _with_lines_on(host: Host, knob: Knob, settings: Iterable[Setting]) -> Knob:
    """Give a knob with these settings, whose lines say which of several hosts they belong to."""
    return replace(
        knob,
        settings=tuple(
            replace(each, lines=tuple(replace(line, host=host.label) for line in each.lines))
            for each in settings
        ),
    )


def programs_of(text: bytes, overrides: Sequence[str], moving: Collection[str]) -> list[dict[str, Any]]:
    """Give the tables of the processes that have knobs: a program each, which no override has changed.

    Parameters are those of `find_knobs`.
    """
    return [
        process
        for process in tomllib.loads(text.decode()).get("process", ())
        if "do" in process
        and not any(each.strip().startswith(f"process.{process.get('name')}.") for each in overrides)
        and any(is_form_of(process, name) for name in moving)
    ]


def is_form_of(process: Mapping[str, Any], name: str) -> bool:
    """Tell whether a process is one of those that a table of the scenario makes."""
    form = re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(str(process.get("name", ""))))
    return re.fullmatch(form, name) is not None
