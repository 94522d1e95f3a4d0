"""Prints the summary of ``pagecast simulate``: operations, percentiles of repeated ones, totals, memory."""

import os
import tomllib
from collections.abc import Iterator, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from pagecast._core import format_bytes
from pagecast.api import Scenario
from pagecast.cli.amounts import seconds, seconds_and_more
from pagecast.cli.happened import happenings
from pagecast.cli.links_table import links_table
from pagecast.cli.ranges_table import ranges_table
from pagecast.cli.repeated_table import repeated_tables
from pagecast.cli.rows import Operations
from pagecast.cli.slowest_table import slowest_table
from pagecast.cli.stragglers import stragglers
from pagecast.cli.table import operation_tables
from pagecast.report.terminal import print_plain
from pagecast.result import Result, is_modelled

__all__ = ["new_console", "print_summary"]

_MOST_ROWS = 40
_PIPE_COLUMNS = 160
_NOT_MODELLED = "–"


def print_summary(
    scenario: Scenario, results: Sequence[Result], *, every: bool = False, slowest: int | None = None
) -> None:
    """Print the forecasts of all models side by side.

    Parameters
    ----------
    scenario : Scenario
    results : sequence of Result
        One per model.
    every : bool
        Show each operation, also when there are many or when it is bookkeeping that takes no time.
    slowest : int, optional
        Show so many of the slowest operations of each model, with their parts.
    """
    console = new_console()
    operations = _operations_that_fit(scenario, results, every=every)
    rows = operations.rows(None if every else _MOST_ROWS)
    for table in operation_tables(console.width, results, rows):
        print_plain(table, console)
    if lines := list(_left_out(len(operations) - len(rows), operations.hidden)):
        print_plain("\n".join(lines) + "\n", console)
    if not all(result.has_all_operations for result in results):
        print_plain(
            "Only slow operations have rows; --record all gives each one. Below, all count.\n", console
        )
    are_together = any(row.count() > 1 for row in rows)
    for table in repeated_tables(console.width, results, are_together=are_together):
        print_plain(table, console)
    if slowest is not None:
        for result in results:
            print_plain(slowest_table(result, slowest), console)
    for table in filter(None, map(links_table, results)):
        print_plain(table, console)
    for table in _totals_that_fit(console, results):
        print_plain(table, console)
    for ranges in filter(None, (ranges_table(console.width, result) for result in results)):
        print_plain(ranges, console)
    if any(_NOT_MODELLED in _peaks(result).values() for result in results):
        print_plain(f"{_NOT_MODELLED}: no part of the model.\n", console)
    if lines := [line for result in results for line in (*stragglers(result), *happenings(result))]:
        print_plain("\n".join(lines) + "\n", console)
    if not results[0].is_measured:
        print_plain(_seed(scenario, results), console)


def _operations_that_fit(scenario: Scenario, results: Sequence[Result], *, every: bool) -> Operations:
    """Let copies of a process share rows where there would be many, then the rounds of a loop as well."""
    for together, loops in ((False, False), (True, False), (True, True)):
        operations = Operations(scenario, results, together=together, loops=loops, every=every)
        if every or len(operations) <= _MOST_ROWS:
            break
    return operations


def _seed(scenario: Scenario, results: Sequence[Result]) -> str:
    """Say whether another seed would change anything."""
    machine = tomllib.loads(scenario.machine.to_toml())
    hosts = machine.get("host", {"": machine.get("machine", {})})
    uneven = [
        f"disk {name}{f' of {host}' if len(hosts) > 1 else ''} is uneven ({100 * disk['unevenness']:.3g} %)"
        for host, described in hosts.items()
        for name, disk in described.get("disk", {}).items()
        if disk.get("unevenness")
    ]
    uneven += [
        f"disk {name}{f' of {host}' if len(hosts) > 1 else ''} draws the times of its requests"
        for host, described in hosts.items()
        for name, disk in described.get("disk", {}).items()
        if disk.keys() & {"service_read", "service_write"}
    ]
    uneven += dict.fromkeys(result.draws for result in results if result.draws)
    seed = results[0].seed
    if not uneven:
        return f"Seed {seed}; no disk is uneven: other seeds give the same."
    return f"Seed {seed}; {', '.join(uneven)}: other seeds differ."


def _left_out(rows: int, hidden: int) -> Iterator[str]:
    if rows:
        yield f"… and {rows:,} more rows; --all shows them, --out DIR keeps each operation."
    if hidden == 1:
        yield "1 operation that took no time is not shown; --all shows it."
    elif hidden:
        yield f"{hidden:,} operations that took no time are not shown; --all shows them."


class _Console(Console):
    """A console that leaves a closed pipe to the command: rich would end Python with 1."""

    def on_broken_pipe(self) -> None:
        """Let the error go on to whoever ends the command."""
        raise


def new_console() -> Console:
    """Give a console on stdout as wide as the terminal; a pipe has no width, so nothing is cut there."""
    console = _Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_COLUMNS
    return console


def _totals_that_fit(console: Console, results: Sequence[Result]) -> list[Table]:
    """Give one table, or one for each model where it would be too wide."""
    table = _totals(results)
    if (
        console.measure(table, options=console.options.update(width=10 * _PIPE_COLUMNS)).maximum
        <= console.width
    ):
        return [table]
    return [_totals([result]) for result in results]


def _totals(results: Sequence[Result]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, title="Totals", title_justify="left", title_style="bold", pad_edge=False
    )
    table.add_column("")
    for result in results:
        table.add_column(result.model, justify="right", no_wrap=True)
    lines = [_totals_of(result) for result in results]
    for name in dict.fromkeys(name for line in lines for name in line):
        table.add_row(name, *(line.get(name, "") for line in lines))
    return table


def _totals_of(result: Result) -> dict[str, str]:
    operations = result.latency
    kinds = np.array(operations["operation"], dtype=object)
    lines = {"last process ends after": seconds_and_more(result.end_s)}
    for kind, what in (("read", "bytes read"), ("write", "bytes written")):
        is_kind = np.isin(kinds, (kind, f"f{kind}", f"mmap_{kind}", "copy"))
        lines[what] = format_bytes(int(operations["bytes"][is_kind].sum()))
    is_mixed = kinds == "readwrite"
    if is_mixed.any():
        lines["bytes read or written"] = format_bytes(int(operations["bytes"][is_mixed].sum()))
    lines |= _peaks(result) | _most_at_risk(result)
    if result.events_left_out:
        lines["events not kept"] = f"{result.events_left_out:,}"
    if not result.is_measured:
        lines["time to simulate"] = seconds(result.wall_s)
    return lines


def _peaks(result: Result) -> dict[str, str]:
    """Give the most dirty and cached bytes of each host, as far as the model knows them."""
    hosts = np.array(result.timeline["host"], dtype=object)
    names = list(dict.fromkeys(result.timeline["host"]))
    peaks = {}
    for host in names:
        of_host = f" of {host}" if len(names) > 1 else ""
        for level in ("dirty", "cached"):
            most = result.timeline[f"{level}_bytes"][hosts == host].max(initial=0)
            known = is_modelled(result.model, level)
            peaks[f"peak {level}{of_host}"] = format_bytes(int(most)) if known else _NOT_MODELLED
    return peaks


def _most_at_risk(result: Result) -> dict[str, str]:
    """Give the most that a power cut would lose of each disk, if it was asked for."""
    table = result.at_risk
    disks = list(zip(table["host"], table["device"], strict=True))
    has_hosts = len({host for host, _ in disks}) > 1
    lines = {}
    for host, device in dict.fromkeys(disks):
        rows = [row for row, disk in enumerate(disks) if disk == (host, device)]
        most = max(rows, key=lambda row: (table["at_risk_bytes"][row], table["names"][row]))
        lost = format_bytes(int(table["at_risk_bytes"][most]))
        of_disk = f"{device} of {host}" if has_hosts else device
        lines[f"most at risk on {of_disk}"] = f"{lost} at {seconds(float(table['time_s'][most]))}"
    return lines
