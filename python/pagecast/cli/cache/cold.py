"""``pagecast cache cold``: a command run cold and warm, and where its bytes came from."""

import shlex
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import click

from pagecast.arguments import shown
from pagecast.cache.cold import Run, Trial, cold
from pagecast.cache.proactive import proactive_reclaim
from pagecast.cli import options
from pagecast.cli.amounts import seconds
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Request, amount, counted, printable, tell
from pagecast.cli.progress import Progress

__all__ = ["command"]

_MAPPED_BYTES = 10_000_000
"""So much a program and its libraries may be."""


class _CommandAfterDashes(click.Command):
    """Takes the words after the first ``--`` as a command of its own, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = args[at + 1 :]
        rest = super().parse_args(ctx, args[:at])
        if not ctx.obj and not ctx.resilient_parsing:
            ctx.fail("there is no COMMAND; write it after the paths and `--`")
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@click.command(
    "cold", short_help="Run a command cold and warm: where did its bytes come from?", cls=_CommandAfterDashes
)
@common.files_and_options
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Run it N times cold and N times warm, alternating.",
)
@click.option(
    "--memory",
    "memory_bytes",
    type=options.Size(),
    metavar="SIZE",
    help="Run it in a memory cgroup of this size, e.g. 4GiB: a machine with less memory.",
)
@click.option(
    "--show-output",
    is_flag=True,
    help="Show its stdout on stderr; it is thrown away otherwise.",
)
@click.option("--ignore-failure", is_flag=True, help="Count runs that end with another code than 0 as good.")
@click.pass_obj
def command(
    arguments: list[str],
    request: Request,
    runs: int,
    memory_bytes: int | None,
    show_output: bool,
    ignore_failure: bool,
) -> None:
    """Run COMMAND with the files in each PATH evicted, then in memory; say where its bytes came from.

    Before a cold run the files are evicted, before a warm one they are read into the cache; both are
    verified. With --memory a warm run is the one right after a cold run in the same cgroup. Counts the read
    calls of COMMAND and its children, and the bytes fetched from devices for them; reads through mappings
    are in the second only. COMMAND gets no stdin. Exit code 1 if a cold run was not cold, a warm one not
    warm, or COMMAND failed.

    \b
    Examples:
      pagecast cache cold data -- ./analyse data
      pagecast cache cold data --runs 5 --json -- grep -r needle data
      pagecast cache cold data --memory 4GiB -- ./analyse data
    """
    with Progress() as progress:
        files = common.find_files(request, progress)
        trial = cold(
            files,
            arguments,
            runs=runs,
            memory_bytes=memory_bytes,
            show_output=show_output,
            method=request.method,
            progress=progress.counted,
        )
    if request.as_json:
        common.print_json(_document(trial))
    else:
        _print(trial)
        common.tell_left_out(files)
        common.tell_cautions(trial.file_systems)
    _tell_stayed(trial.runs)
    failed = [] if ignore_failure else [run for run in trial.runs if run.exit_code]
    for run in failed[:1]:
        tell(
            f"{printable(trial.command[0])} ended with {run.exit_code} in {_name(run)}; "
            f"--ignore-failure if that is no failure{_killed(trial)}"
        )
    common.check_failed(bool(failed) or not all(run.is_prepared for run in trial.runs))


def _name(run: Run) -> str:
    return f"{run.state} run {run.repetition}"


def _killed(trial: Trial) -> str:
    kills = trial.out_of_memory_kills
    return f"; {counted(kills, 'process', 'processes')} killed for want of memory" if kills else ""


def _document(trial: Trial) -> dict[str, object]:
    runs = []
    for run in trial.runs:
        entry = asdict(run) | {"device_share": run.device_share}
        names = ("path", "cached_bytes", "reasons")
        entry["stayed"] = [
            dict(zip(names, (path, None if left < 0 else left, why), strict=True))
            for path, left, why in run.stayed
        ]
        runs.append(entry)
    return {
        "command": trial.command,
        "file_systems": trial.file_systems,
        "memory_bytes": trial.memory_bytes,
        "cgroup_version": trial.cgroup_version,
        "out_of_memory_kills": trial.out_of_memory_kills,
        "runs": runs,
        "summary": {state: _summary(trial.runs, state) for state in ("cold", "warm")},
    }


def _summary(runs: Sequence[Run], state: str) -> dict[str, object]:
    chosen = [run for run in runs if run.state == state]
    times = [run.wall_s for run in chosen]
    shares = [run.device_share for run in chosen if run.device_share is not None]
    return {
        "runs": len(chosen),
        "median_wall_s": statistics.median(times),
        "least_wall_s": min(times),
        "greatest_wall_s": max(times),
        "median_device_share": statistics.median(shares) if shares else None,
    }


def _print(trial: Trial) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_plain

    console = new_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("run")
    for name in (
        "time",
        "read calls",
        "from memory",
        "from device",
        "whole device",
        "cached before",
        "after",
    ):
        table.add_column(name, justify="right")
    for run in trial.runs:
        table.add_row(*map(Text, _cells(run)))
    print_plain(f"{shown(shlex.join(trial.command))}{_limit(trial)}\n", console)
    print_plain(table, console)
    for line in _verdict(trial):
        print_plain(line, console)


def _limit(trial: Trial) -> str:
    if trial.memory_bytes is None:
        return ""
    peaks = [run.group_peak_bytes for run in trial.runs if run.group_peak_bytes is not None]
    most = f", at most {amount(max(peaks))} in use" if peaks else ""
    return f"\nin a cgroup (v{trial.cgroup_version}) of {amount(trial.memory_bytes)}{most}{_killed(trial)}"


def _cells(run: Run) -> list[str]:
    whole = sum(run.whole_device_read_bytes.values()) if run.whole_device_read_bytes else None
    return [
        f"{_name(run)}{'' if run.is_prepared else ' (not ' + run.state + ')'}",
        seconds(run.wall_s),
        amount(run.read_calls_bytes),
        amount(run.memory_read_bytes),
        amount(run.device_read_bytes),
        amount(whole),
        amount(run.cached_before_bytes),
        amount(run.cached_after_bytes),
    ]


def _verdict(trial: Trial) -> Iterator[str]:
    for state in ("cold", "warm"):
        runs = [run for run in trial.runs if run.state == state]
        median = statistics.median(run.wall_s for run in runs)
        shares = [run.device_share for run in runs if run.device_share is not None]
        where = f": {_percent(statistics.median(shares))} of its bytes from the device" if shares else ""
        yield f"{state.capitalize()} {seconds(median)}{where}"
    if any(map(_is_surprising, trial.runs)):
        yield "The device gave more than read calls asked for: read-ahead, or files read through mappings."


def _is_surprising(run: Run) -> bool:
    """Tell whether clearly more came from the device than read calls asked for; programs are mapped."""
    return (
        run.read_calls_bytes is not None
        and run.device_read_bytes > 1.1 * run.read_calls_bytes + _MAPPED_BYTES
    )


def _percent(share: float) -> str:
    percent = round(100 * share)
    if percent == 100 and share < 1:
        return ">99 %"
    return "<1 %" if percent == 0 and share else f"{percent} %"


def _tell_stayed(runs: Sequence[Run]) -> None:
    for run in (run for run in runs if not run.is_prepared):
        if run.state == "warm":
            tell(
                f"{_name(run)} was not warm: not all of the files was in memory"
                f"; {proactive_reclaim() or 'give less, free memory, or see what they are on'}"
            )
        common.tell_first(run.stayed, partial(_stayed, run))


def _stayed(run: Run, file: tuple[str, int, list[str]]) -> str:
    path, left, reasons = file
    what = "not verified" if left < 0 else f"{amount(left)} stayed"
    return f"{_name(run)} was not cold: {printable(path)}: {what}: {printable('; '.join(reasons))}"
