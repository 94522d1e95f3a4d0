"""The controls of the page: sliders and choices for a machine and its kernel, from the knobs of `advice`.

A knob whose settings differ in one number is a slider over their range, any other one a choice. Added are the
size of the memory and the rates of the disks, which a buyer chooses, and the dirty limits as ratios, which
the knobs have in bytes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pagecast.advice.knob import Knob
from pagecast.advice.knobs import Host
from pagecast.errors import ScenarioError
from pagecast.quantities import Quantity, parse_quantity
from pagecast.studio.document import Document, locate

__all__ = ["controls"]

_UNITS: Final = {"bytes": "size", "bytes_per_s": "rate", "s": "time", "": "number", "share": "percent"}
_WIDE: Final = 20.0
"""From such a factor between its ends on, a slider of a number is logarithmic; one of sizes always is."""

_RATIOS: Final = {"dirty_background_ratio": 10, "dirty_ratio": 20}
"""Percent of memory, and the kernel's defaults."""

_TIMES: Final[tuple[tuple[float, str], ...]] = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_BINARY: Final = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_DECIMAL: Final[tuple[tuple[float, str], ...]] = (
    (1e12, "TB"),
    (1e9, "GB"),
    (1e6, "MB"),
    (1e3, "kB"),
    (1.0, "B"),
)

_MOST_WHOLE: Final = 10_000
"""A larger whole number does not fit beside its slider."""

_SYSCTL_UNITS: Final = {"centisecs": "centisecs", "kb": "KiB", "usec": "µs", "ratio": "%"}
"""Units of numbers, by the last word of their keys."""


def controls(hosts: Mapping[str, Host], knobs: Iterable[Knob]) -> list[dict[str, Any]]:
    """Give the controls of a scenario.

    Parameters
    ----------
    hosts : mapping of str to Host
    knobs : iterable of Knob
        Of these hosts and their processes.

    Returns
    -------
    list of dict
        For JSON. Each has `id`, `group`, `label` and `kind`. A ``slider`` has `key`, `form` (``size``,
        ``rate``, ``time`` or ``number``), `unit`, `present` (a text, or None where nothing is set), `low` and
        `high` in base units, `is_log`, `is_whole`, and `beside`, overrides that it needs as well. A
        ``choice`` has `present` and `options`, each with `text` and `overrides`.
    """
    found: dict[str, dict[str, Any]] = {}
    for host in hosts.values():
        for control in _hardware(host):
            found[control["id"]] = control
    for knob in knobs:
        control = _of_knob(knob, hosts)
        known = found.setdefault(control["id"], control)
        if known is not control and known["kind"] == "choice":  # programs with other flags are one choice
            known["options"] += control["options"]
    order = {group: place for place, group in enumerate(_groups(found.values()))}
    return sorted(found.values(), key=lambda control: order[control["group"]])


def _groups(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Put what a machine has before its programs."""
    names = dict.fromkeys(control["group"] for control in found)
    return sorted(names, key=lambda name: name.startswith("Process"))


def _hardware(host: Host) -> Iterator[dict[str, Any]]:
    size = _number(host.table["memory"]["size"])
    yield _slider(host, f"{host.key}.memory.size", "memory size", (size.value / 16, size.value * 4))
    for name, usual in _RATIOS.items():
        control = _slider(host, f"{host.key}.vm.{name}", f"vm.{name}", (0, 90))
        yield control | {"present": control["present"] or str(usual)}
    for disk in host.disks:
        for what in ("read", "write"):
            rate = _number(host.table["disk"][disk][what]).value
            key = f"{host.key}.disk.{disk}.{what}"
            yield _slider(host, key, f"{what} rate", (rate / 10, rate * 10))


def _slider(
    host: Host, key: str, label: str, ends: tuple[float, float], beside: tuple[str, ...] = ()
) -> dict[str, Any]:
    present = _present(host, key)
    values = [*ends, *([] if present is None else [_number(present).value])]
    low, high = min(values), max(values)
    unit = _number(present).unit if present is not None else "bytes" if "bytes" in key else ""
    return {
        "id": key,
        "group": _group(host, key),
        "label": label,
        "kind": "slider",
        "key": key,
        "form": _UNITS[unit],
        "unit": _SYSCTL_UNITS.get(key.rpartition("_")[2], "") if unit == "" else "",
        "present": None if present is None else _as_typed(present),
        "low": low,
        "high": high,
        "is_log": _is_log(unit, low, high) and "ratio" not in key,
        "is_whole": unit in ("", "bytes"),
        "beside": list(beside),
    }


def _of_knob(knob: Knob, hosts: Mapping[str, Host]) -> dict[str, Any]:
    host = _host_of(knob, hosts)
    keys = {setting.overrides[0].partition("=")[0] for setting in knob.settings}
    values = [parse_quantity(setting.overrides[0].partition("=")[2]) for setting in knob.settings]
    numbers = [value for value in values if value is not None]
    beside = {setting.overrides[1:] for setting in knob.settings}
    if knob.is_ordered and len(keys) == len(beside) == 1 and len(values) == len(numbers) > 1:
        (key,) = keys
        ends = min(each.value for each in numbers), max(each.value for each in numbers)
        control = _slider(host, key, _label(knob, host), ends, next(iter(beside)))
        unit = numbers[0].unit
        return control | {
            "form": _UNITS[unit],
            "is_whole": unit in ("", "bytes"),
            "is_log": _is_log(unit, control["low"], control["high"]),
            "group": _group_of(knob, host),
        }
    flags = re.fullmatch(r"(O_DIRECT|RWF_DONTCACHE) for \w+ of (.*)", knob.name)
    return {
        "id": f"flags of {flags[2]}" if flags else knob.name,
        "group": _group_of(knob, host),
        "label": "flags" if flags else _label(knob, host),
        "kind": "choice",
        "present": _as_typed(_present(host, next(iter(keys))) or "") or None,
        "options": [
            {"text": _option(knob, setting.text), "overrides": list(setting.overrides)}
            for setting in knob.settings
        ],
    }


def _is_log(unit: str, low: float, high: float) -> bool:
    return unit in ("bytes", "bytes_per_s") or high > _WIDE * max(low, 1e-12)


def _host_of(knob: Knob, hosts: Mapping[str, Host]) -> Host:
    """Find the host whose table a setting changes; the first one for those of processes alone."""
    texts = [text for setting in knob.settings for text in setting.overrides]
    named = (host for host in hosts.values() if any(text.startswith(f"{host.key}.") for text in texts))
    return next(named, next(iter(hosts.values())))


def _group_of(knob: Knob, host: Host) -> str:
    process = re.search(r" of (.+?)(?: on .+)?$", knob.name)
    return f"Process {process[1]}" if process else _group(host, knob.settings[0].overrides[0])


def _group(host: Host, key: str) -> str:
    where = f" on {host.label}" if host.label else ""
    part, _, rest = key.removeprefix(f"{host.key}.").partition(".")
    match part:
        case "disk":
            return f"Disk {rest.partition('.')[0]}{where}"
        case "mount":
            path = re.match(r'"([^"]*)"|([^.]*)', rest)
            return f"Mount {path[1] or path[2]}{where}" if path else f"Mounts{where}"
        case "memory":
            return f"Memory{where}"
        case "vm":
            return f"Dirty memory{where}"
    return f"Server{where}"


def _label(knob: Knob, host: Host) -> str:
    """Give the name without what its group says: the process, the disk or the mount."""
    name = re.sub(r" of .+$", "", knob.name)
    name = name.removesuffix(f" on {host.label}") if host.label else name
    first, _, rest = name.partition(" ")
    is_place = rest and (first in host.disks or first in host.table.get("mount", {}))
    return rest if is_place else name


def _option(knob: Knob, text: str) -> str:
    name = re.sub(r" of [^ ]+", "", text) if " of " in text else text
    last = knob.name.rpartition(" ")[2]
    return name.removeprefix(f"{last} ").removeprefix("ionice ")


def _present(host: Host, key: str) -> str | None:
    """Give what is set now, as the description of the machine has it."""
    document: Document = dict(host.table)
    try:
        path = locate(document, f"{key.removeprefix(f'{host.key}.')}=0").path
        below: Any = document
        for part in path:
            below = below[part]
    except (ScenarioError, KeyError, TypeError):
        return None
    return None if isinstance(below, dict | list) else str(below)


def _as_typed(text: str) -> str:
    """Give a value in the unit in which it reads best; a description has nanoseconds and bytes."""
    quantity = parse_quantity(text)
    if quantity is None or not text.endswith((" ns", " B", " B/s")):
        return text
    rate = "/s" if text.endswith("/s") else ""
    for size, unit in _BINARY:
        if (
            quantity.unit != "s"
            and size <= quantity.value < _MOST_WHOLE * size
            and quantity.value % size == 0
        ):
            return f"{quantity.value // size} {unit}{rate}"
    scales = _TIMES if quantity.unit == "s" else _DECIMAL
    scale, unit = next((each for each in scales if quantity.value >= each[0]), scales[-1])
    return f"{quantity.value / scale:.4g} {unit}{rate}"


def _number(text: object) -> Quantity:
    quantity = parse_quantity(str(text))
    assert quantity is not None, "a described machine has numbers, sizes and rates"
    return quantity
