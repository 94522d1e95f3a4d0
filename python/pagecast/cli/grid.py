"""``pagecast grid``: rates over file size and record size, as iozone measures them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast.arguments import shown
from pagecast.cli import options

if TYPE_CHECKING:
    from pagecast.grid import Grid, GridPlan

__all__ = ["command"]


class Sizes(options.Text):
    """A size, or a range such as "64KiB..512MiB" in which each size is twice the one before."""

    name = "sizes"

    def convert(  # type: ignore[override]
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read it."""
        if isinstance(value, tuple):
            return value
        text = super().convert(value, param, ctx)
        least, _, most = text.partition("..")
        size = options.Size()
        first = size.convert(least, param, ctx)
        last = size.convert(most, param, ctx) if ".." in text else first
        if not 0 < first <= last:
            self.fail(f"`{shown(text)}` holds no size; write for example 64KiB..512MiB", param, ctx)
        from pagecast.grid.plan import doubling

        return tuple(doubling(first, last))


TESTS = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random-read",
    "random-write",
    "backward-read",
    "strided-read",
    "fwrite",
    "fread",
)
"""As `pagecast.grid.TESTS`, which is slow to import."""


@click.command("grid")
@click.option(
    "--machine", type=options.Text(), metavar="FILE", help="Machine to forecast: a file, or a shipped name."
)
@options.models
@click.option(
    "--dir",
    "directory",
    type=options.FileName(),
    metavar="DIR",
    help="Measure, too: a directory on the disk.",
)
@click.option(
    "--compare",
    "compared",
    type=options.FileName(),
    metavar="FILE",
    help="A result of iozone (what it printed, or its reports as CSV) or of fio (JSON) to compare with.",
)
@click.option(
    "--file",
    "files",
    type=Sizes(),
    multiple=True,
    metavar="SIZE",
    help="Size of the file, or A..B, each twice the one before; can be repeated.  [default: 64KiB..512MiB]",
)
@click.option(
    "--record",
    "records",
    type=Sizes(),
    multiple=True,
    metavar="SIZE",
    help="Size of a record, likewise.  [default: 4KiB..16MiB]",
)
@click.option(
    "--test",
    "tests",
    type=click.Choice(TESTS),
    multiple=True,
    help="Only these tests; can be repeated. The file is always written first.",
)
@click.option("--fsync", is_flag=True, help="The fsync that ends each test is in its time (iozone -e).")
@click.option(
    "--every-record",
    is_flag=True,
    help="Records below 64 KiB also in files above 16 MiB (iozone -z); this takes long.",
)
@click.option(
    "--files-in",
    "place",
    type=options.Text(),
    metavar="PATH",
    help="Where on the machine the file is; default its only mount.",
)
@click.option(
    "--seed", type=options.Seed(), default=0, show_default=True, metavar="N", help="Seed of random orders."
)
@options.as_json
@click.option(
    "--out", type=options.FileName(), metavar="DIR", help="Write JSON, CSV, heat maps and surfaces to DIR."
)
@click.option("--force", is_flag=True, help="Replace an earlier output in DIR.")
def command(
    machine: str | None,
    models: tuple[str, ...],
    directory: Path | None,
    compared: Path | None,
    files: tuple[tuple[int, ...], ...],
    records: tuple[tuple[int, ...], ...],
    tests: tuple[str, ...],
    fsync: bool,
    every_record: bool,
    place: str | None,
    seed: int,
    as_json: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Forecast or measure rates over file size and record size, as iozone does.

    Each cell is a file of its own that goes through the tests in their order: write, rewrite, read, reread,
    random read and write, backward and strided read, fwrite, fread. Each test ends with an fsync, which is in
    its time with --fsync alone.

    \b
    Examples:
      pagecast grid --machine m.toml --out grid
      pagecast grid --machine m.toml --file 1GiB..64GiB --record 1MiB --test write --test reread
      pagecast grid --machine m.toml --dir /data/scratch --file 64KiB..64MiB --fsync
      iozone -a -R > iozone.txt; pagecast grid --machine m.toml --compare iozone.txt

    With --dir or --compare, errors of the forecast are listed: (forecast - measured) / measured time.
    """
    from pagecast.grid.plan import DEFAULT_FILES, DEFAULT_RECORDS, GridPlan, doubling

    if machine is None and directory is None and compared is None:
        raise click.UsageError(
            "name a machine (--machine), a directory to measure in (--dir), or a result (--compare)",
            click.get_current_context(),
        )
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    rows = _rates(compared)
    cells = {row.cell for row in rows}
    chosen_files = [size for sizes in files for size in sizes] or sorted({cell.file_bytes for cell in cells})
    chosen_records = [size for sizes in records for size in sizes] or sorted(
        {cell.record_bytes for cell in cells}
    )
    plan = GridPlan(
        file_bytes=chosen_files or doubling(*DEFAULT_FILES),
        record_bytes=chosen_records or doubling(*DEFAULT_RECORDS),
        tests=tests or tuple(test for test in TESTS if not rows or any(row.test == test for row in rows)),
        fsync=fsync,
        every_record=every_record or bool(rows),
        seed=seed,
    )
    grid = _done(plan, machine, models, directory, place).with_rows(rows)
    reference = compared.name if compared is not None else "measured" if directory is not None else None
    if as_json:
        from pagecast.grid.export import document

        click.echo(json.dumps(document(grid, reference), ensure_ascii=False, allow_nan=False))
    else:
        from pagecast.cli.grid_table import print_grid

        print_grid(grid, reference)
    if out is not None:
        from pagecast.grid.export import save

        save(grid, out, reference=reference, replace=force)
        click.echo(f"Results are in {shown(out)}", err=True)


def _rates(compared: Path | None) -> list[Any]:
    if compared is None:
        return []
    from pagecast.grid import read_rates

    return read_rates(compared)


def _done(
    plan: "GridPlan", machine: str | None, models: tuple[str, ...], directory: Path | None, place: str | None
) -> "Grid":
    from pagecast.api import load_machine
    from pagecast.cli.progress import Progress
    from pagecast.grid import Grid, measure, simulate

    grid = Grid([], {})
    with Progress() as progress:
        if machine is not None:
            loaded = load_machine(machine)
            chosen = tuple(dict.fromkeys(models)) or ("kernel",)
            where = place or only_mount(loaded)
            grid = simulate(plan, loaded, directory=where, models=chosen, progress=progress.part)
        if directory is not None:
            measured = measure(plan, directory, progress=progress.part)
            grid = grid.with_rows(measured.rows, measured.provenance)
    return grid


def only_mount(machine: Any) -> str:
    """Give the only mount of a machine's first host, or its root."""
    from pagecast.errors import ScenarioError

    mounts = machine.mounts
    if len(mounts) != 1 and "/" not in mounts:
        raise ScenarioError(f"the machine has {len(mounts)} mounts; say with --files-in where the file is")
    return mounts[0] if len(mounts) == 1 else "/"
