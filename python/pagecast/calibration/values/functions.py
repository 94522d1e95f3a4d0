"""The keys of a machine file that are times of functions of the kernel, and what hooks of the tracer take."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pagecast.calibration.fits import estimate
from pagecast.calibration.rounds import is_known
from pagecast.calibration.values.value import Value, beyond_noise, measured, show_time

__all__ = ["function_costs", "function_figures", "name_costs", "reserve_s"]

_NAMES: Final = {
    "open": "opening a file that is there",
    "create": "opening one that is not, in an empty directory",
    "rename": "renaming it there",
    "unlink": "unlinking it",
}
_WITHOUT: Final = "time of the system call's function without waiting and its hook"
_WRITEBACK: Final = "do_writepages of an fdatasync of 8 MiB of new pages, without waiting; each page"
_RESERVE: Final = "ext4_da_get_block_prep of a page without a block beyond that of one with a block"


def function_costs(times: Mapping[str, Sequence[float]]) -> Iterator[Value]:
    """Give the keys of `[memory.cost]`.

    Parameters
    ----------
    times : mapping of str to sequence of float
        As `pagecast.calibration.functions.function_times` gives them; empty if nothing was traced.

    Yields
    ------
    Value
    """
    yield from beyond_noise("memory.cost.block_reserve", times.get("block_reserve", ()), _RESERVE)
    pages = times.get("page_writeback", ())
    yield from measured("memory.cost.page_writeback", pages, show_time, _WRITEBACK, "s")


def name_costs(times: Mapping[str, Sequence[float]]) -> Iterator[Value]:
    """Give the keys of `[mount]`; arguments as for `function_costs`."""
    for key, what in _NAMES.items():
        yield from measured(f"mount.{key}", times.get(key, ()), show_time, f"{what}: {_WITHOUT}", "s")


def function_figures(times: Mapping[str, Sequence[float]]) -> Iterator[Value]:
    """Give what a hook adds to a function; arguments as for `function_costs`."""
    if is_known(hooks := times.get("hook", ())):
        found = estimate(hooks)
        what = "getppid, traced: what a hook of function_graph adds, and was taken off"
        yield Value("", show_time(found.value), what, found, "s", show_time)


def reserve_s(times: Mapping[str, Sequence[float]]) -> float:
    """Give the time to reserve a block that stands in the file, which `page_insert` then does not have."""
    found = estimate(times["block_reserve"]) if is_known(times.get("block_reserve", ())) else None
    return found.value if found is not None and (found.low or 0.0) > 0 else 0.0
