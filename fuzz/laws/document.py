"""A scenario as plain data, and its TOML text in units of one's choice.

Lists and tables are Python's, quantities are integers in base units: what is drawn can be cut down, permuted
and changed without reading TOML again.
"""

import random
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from typing import Any

Table = dict[str, Any]


class Size(int):
    """Bytes."""


class Rate(int):
    """Bytes per second."""


class Time(int):
    """Nanoseconds."""


Quantity = Size | Rate | Time
Units = Callable[[Quantity], str]

BYTE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
UNITS = {
    Size: BYTE_UNITS,
    Rate: {f"{unit}/s": factor for unit, factor in BYTE_UNITS.items()},
    Time: {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9},
}
# Minutes and hours are left out: a nanosecond is no decimal fraction of them.
EXACT = Context(prec=60)


def base_units(quantity: Quantity) -> str:
    """Write it as bytes, bytes per second or nanoseconds."""
    return f"{int(quantity)} {next(iter(UNITS[type(quantity)]))}"


def any_units(random_: random.Random) -> Units:
    """Write each quantity exactly, in a unit drawn for it alone."""

    def write(quantity: Quantity) -> str:
        unit, factor = random_.choice(list(UNITS[type(quantity)].items()))
        return f"{EXACT.divide(Decimal(int(quantity)), Decimal(factor)):f} {unit}"

    return write


def to_toml(document: Table, units: Units = base_units) -> str:
    """Write a document as a scenario file."""
    return "\n".join(_lines(document, units)) + "\n"


def _lines(document: Table, units: Units) -> Iterator[str]:
    for key in ("model", "machine", "host", "link", "network"):
        if key in document:
            yield from _table((key,), document[key], units)
    for key in ("route", "file", "process"):
        for entry in document.get(key, ()):
            yield f"[[{key}]]"
            yield from (f"{_key(name)} = {_value(value, units)}" for name, value in entry.items())


def _table(path: tuple[str, ...], table: Table, units: Units) -> Iterator[str]:
    """Write a table with its values, then those inside it; points such as `read_at` stay in one line."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict) and key not in INLINE}
    if len(inner) < len(table):
        yield f"[{'.'.join(map(_key, path))}]"
        for key, value in table.items():
            if key not in inner:
                yield f"{_key(key)} = {_value(value, units)}"
    for key, value in inner.items():
        yield from _table((*path, key), value, units)


INLINE = (
    "read_at",
    "write_at",
    "write_cache",
    "rotation",
    "raid",
    "service_read",
    "service_write",
    "iops",
    "san",
)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def _value(value: Any, units: Units) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Size() | Rate() | Time():
            return f'"{units(value)}"'
        case int() | float():
            return repr(value)
        case str():
            return f'"{value}"'
        case dict():
            return f"{{ {', '.join(f'{_key(key)} = {_value(each, units)}' for key, each in value.items())} }}"
        case list():
            return f"[ {', '.join(_value(each, units) for each in value)} ]"
    raise TypeError(f"{value!r} has no place in a scenario")


def hosts_of(document: Table) -> dict[str, Table]:
    """Give the machines by name."""
    return document["host"] if "host" in document else {"machine": document["machine"]}
