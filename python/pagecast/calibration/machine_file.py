"""Writes a calibrated machine as the file that scenarios name: TOML, the source of each number beside it."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pagecast import _core
from pagecast.calibration.facts import Facts
from pagecast.calibration.fits import LEAST_ROUNDS, Estimate
from pagecast.calibration.values.value import Value
from pagecast.toml_text import toml_key, toml_string

__all__ = ["Provenance", "has_changed", "source_of", "write_machine"]

COLUMN: Final = 41
"""Where comments begin."""
CHECKSUM: Final = "# checksum: sha256 "
TABLES: Final = ("", "kernel", "vm", "memory", "memory.cost", "disk", "cawl")
"""In the order of the file. A key without a text is one that could not be measured: a comment says why."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a file."""

    command: str
    version: str
    date: str
    rounds: int
    elapsed_s: float
    notes: tuple[str, ...] = ()


def write_machine(
    facts: Facts, values: Sequence[Value], figures: Iterable[Value], provenance: Provenance
) -> str:
    """Give the text of a machine file.

    Parameters
    ----------
    facts : Facts
    values : sequence of Value
        With their keys; those of the disk begin with "disk.", those of its mount with "mount.".
    figures : iterable of Value
        Without keys; they become comments.
    provenance : Provenance

    Returns
    -------
    str
        With a checksum of all its other lines.
    """
    lines = [*_head(facts, provenance), *_tables(facts, values), *_figures(figures), *_groups(facts)]
    return _with_checksum(lines)


def source_of(value: Value) -> str:
    """Say where a value comes from, and how sure it is.

    Parameters
    ----------
    value : Value

    Returns
    -------
    str
    """
    if value.estimate is None or value.show is None:
        return value.how
    return f"measured: {_interval(value.estimate, value)}; {value.how}"


def _interval(found: Estimate, value: Value) -> str:
    assert value.show is not None
    if found.low is None or found.high is None:
        between = f"{found.n} rounds"
    else:
        between = f"{value.show(found.low)} to {value.show(found.high)} (95 %, {found.n} rounds)"
    drift = f", drift {100 * found.drift:+.0f} %" if found.is_drifting else ""
    unsure = "UNSURE, " if found.is_unsure else ""
    return f"{unsure}{between}, noise {100 * found.noise:.0f} %{drift}"


def has_changed(text: str) -> bool:
    """Tell whether a calibrated machine file was changed since; one without a checksum never was.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool
    """
    lines = text.splitlines()
    marked = [line for line in lines if line.startswith(CHECKSUM)]
    if not marked:
        return False
    others = [line for line in lines if not line.startswith(CHECKSUM)]
    return marked != [f"{CHECKSUM}{_hash(others)}"]


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")).hexdigest()


def _with_checksum(lines: Sequence[str]) -> str:
    at = lines.index("")
    whole = [*lines[:at], f"{CHECKSUM}{_hash(lines)}", *lines[at:]]
    return "".join(f"{line}\n" for line in whole)


def _head(facts: Facts, provenance: Provenance) -> Iterator[str]:
    mount, device = facts.mount, facts.device
    disk = "no device that we can see" if device is None else " on ".join(device.stack)
    yield f"# Linux {facts.kernel_release}, {facts.cores} cores, {mount.kind} on {disk}"
    yield "#"
    yield f"# calibrated {provenance.date} by pagecast {provenance.version}: {provenance.command}"
    yield f"# {provenance.rounds} rounds in {provenance.elapsed_s:.0f} s. Where numbers come from:"
    yield "#   read      from /proc, /sys and the file system"
    yield "#   measured  median of the rounds with its interval; noise: spread of a round; drift: a trend"
    if provenance.rounds < LEAST_ROUNDS:
        yield f"#             ({LEAST_ROUNDS} rounds are needed for an interval; these are fewer)"
    yield f"# file system: {mount.kind} at {mount.point} ({mount.options})"
    if device is not None:
        about = {
            "model": device.model,
            "scheduler": device.scheduler,
            "write cache": device.write_cache,
            "rotational": device.is_rotational,
        }
        known = ", ".join(f"{name} {what}" for name, what in about.items() if what not in (None, ""))
        yield f"# device: {device.name} ({known})"
    yield f"# transparent huge pages: {facts.huge_pages or 'none'}"
    for note in provenance.notes:
        yield f"# note: {note}"
    yield ""
    yield f"description = {toml_string(f'Linux {facts.kernel_version}, {mount.kind} on {disk}')}"
    yield f"source = {toml_string(f'{provenance.command}, pagecast {provenance.version}, {provenance.date}')}"


def _tables(facts: Facts, values: Sequence[Value]) -> Iterator[str]:
    disk = "disk" if facts.device is None else facts.device.name
    disk = toml_key(disk)
    for table in TABLES:
        of = [value for value in values if value.key.rpartition(".")[0] == table]
        if not of:
            continue
        if table:
            yield ""
            yield f"[{f'disk.{disk}' if table == 'disk' else table}]"
        yield from map(_line, of)
    yield ""
    yield f"[mount.{toml_string(facts.mount.point)}]"
    yield f"disk = {disk if disk.startswith(chr(34)) else toml_string(disk)}"
    kind = facts.mount.kind if facts.mount.kind in _core.FILE_SYSTEMS else "other"
    line = f"type = {toml_string(kind)}"
    yield f"{line:{COLUMN - 1}} # read: /proc/mounts"
    yield from (_line(value) for value in values if value.key.startswith("mount."))
    yield from _uncertainty(facts, values)


def _uncertainty(facts: Facts, values: Sequence[Value]) -> Iterator[str]:
    """Give the table of ranges: of every value of which there were two rounds or more."""
    disk = "disk" if facts.device is None else facts.device.name
    tables = {"disk": f"disk.{disk}", "mount": f"mount.{facts.mount.point}"}
    known = [(value, value.range) for value in values if value.range is not None]
    if not known:
        return
    yield ""
    yield "# 90 of 100 later runs find a value at most so much larger or smaller: the spread of the rounds"
    yield "[uncertainty]"
    for value, spread in known:
        table, _, key = value.key.partition(".")
        yield f"{toml_string(f'{tables.get(table, table)}.{key}')} = {toml_string(_percent(spread))}"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %" if part >= 0.1 else f"{100 * part:.2g} %"


def _line(value: Value) -> str:
    name = value.key.rpartition(".")[2]
    line = f"{name} = {value.text}" if value.text else f"# {name}"
    return f"{line:{COLUMN - 1}} # {source_of(value)}"


def _figures(figures: Iterable[Value]) -> Iterator[str]:
    of = list(figures)
    if not of:
        return
    yield ""
    yield "# Measured, and no key stands for it:"
    for value in of:
        assert value.estimate is not None
        yield f"#   {value.text:>12}  {value.how}: {_interval(value.estimate, value)}"


def _groups(facts: Facts) -> Iterator[str]:
    if not facts.groups:
        return
    yield ""
    yield "# Memory cgroup of this process, for those that say `cgroup = 'own'` (model `kernel` only):"
    least = min(facts.groups, key=lambda group: group.limit_bytes)
    key = "memory.max" if least.version == 2 else "memory.limit_in_bytes"
    yield "# [cgroup.own]"
    yield f'# {key} = "{least.limit_bytes} B"'
