"""``pagecast machine``: the machines and disks that are shipped."""

import json
from pathlib import Path

import click

from pagecast.api import (
    disk_path,
    is_machine_name,
    list_disks,
    list_machines,
    load_machine,
    machine_path,
    read_input,
)
from pagecast.cli import options

__all__ = ["command"]


@click.group("machine", cls=options.Group)
def command() -> None:
    """List and show the machines that are shipped.

    A scenario names one with `from = "NAME"` in [machine] and overrides the keys that differ. A machine
    names a shipped disk with `from = "NAME"` in [machine.disk.NAME].

    \b
    Examples:
      pagecast machine list
      pagecast machine list --disks                       disks that a machine names
      pagecast machine show wrench-cluster > mine.toml    a machine file to start from
      pagecast machine show ./mine.toml                   says if it was changed since it was calibrated
    """


@command.command("list")
@click.option("--disks", is_flag=True, help="List the shipped disks instead.")
@options.as_json
def list_command(disks: bool, as_json: bool) -> None:
    """List the machines by name."""
    if disks:
        _list_disks(as_json)
        return
    about = {name: _about(name) for name in list_machines()}
    if as_json:
        machines = [
            {"name": name, "about": text, "machine_hash": load_machine(name).hash}
            for name, text in about.items()
        ]
        click.echo(json.dumps({"schema_version": 1, "machines": machines}, ensure_ascii=False))
        return
    width = max(map(len, about), default=0)
    for name, text in about.items():
        click.echo(f"{name:{width}}  {text}")


@command.command("show")
@click.argument("name", type=options.Text())
def show_command(name: str) -> None:
    """Print the file of a machine, with the source of each number.

    NAME is a shipped machine or disk, or the path of a machine file: with a slash, or ending in .toml. One
    that was made by `pagecast calibrate` is compared with its checksum. Comments at the end list the keys
    that follow from the `kind` of a disk.
    """
    if name in list_disks():
        click.echo(disk_path(name).read_text(encoding="utf-8"), nl=False)
        return
    if is_machine_name(name):
        click.echo(machine_path(name).read_text(encoding="utf-8"), nl=False)
        return
    text = read_input(name)
    machine = load_machine(name)
    click.echo(text, nl=False)
    from pagecast.cli.notices import implied_lines

    for line in implied_lines(machine):
        click.echo(f"# {line}")
    if b"# checksum: " in text:
        from pagecast.calibration import has_changed

        if has_changed(text.decode()):
            click.echo("pagecast: the file was changed after it was calibrated", err=True)


def _list_disks(as_json: bool) -> None:
    about = {name: _first_line(disk_path(name)) for name in list_disks()}
    if as_json:
        disks = [{"name": name, "about": text} for name, text in about.items()]
        click.echo(json.dumps({"schema_version": 1, "disks": disks}, ensure_ascii=False))
        return
    width = max(map(len, about), default=0)
    for name, text in about.items():
        click.echo(f"{name:{width}}  {text}")


def _about(name: str) -> str:
    return _first_line(machine_path(name))


def _first_line(path: Path) -> str:
    """Give the first line of comment of a file: what it describes."""
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").rstrip(".")
