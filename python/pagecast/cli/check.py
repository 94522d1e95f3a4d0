"""``pagecast check``: read a scenario and say whether it can be understood."""

import json
from pathlib import Path

import click

from pagecast.arguments import counted
from pagecast.cli import options
from pagecast.errors import UnknownModelError
from pagecast.models import MODELS
from pagecast.workloads import Reading

__all__ = ["command"]


@click.command("check")
@options.scenario
@options.all_models
@options.machine("Machine file, or the name of a shipped machine")
@options.overrides
@options.reading
@options.as_json
def command(
    scenario: Path,
    machine: str | None,
    models: tuple[str, ...],
    overrides: tuple[str, ...],
    reading: Reading,
    as_json: bool,
) -> None:
    """Read SCENARIO without simulating it.

    Finds unknown keys, missing units and wrong values, and certain failures: files that no process makes,
    events that no process signals. `pagecast simulate` finds those that depend on time, such as full
    memory.

    \b
    Examples:
      pagecast check scenario.toml
      pagecast check scenario.toml --set machine.vm.dirty_ratio=10
      pagecast check scenario.toml --json | jq .machine_hash
    """
    loaded = options.load_scenario(scenario, overrides, machine, reading)
    for model in models:
        if model not in MODELS:
            raise UnknownModelError(f"there is no model `{model}`; choose one of {', '.join(MODELS)}")
    found = {
        "models": list(models) or loaded.models,
        "hosts": loaded.hosts,
        "processes": loaded.processes,
        "files": loaded.files,
        "machine_hash": loaded.machine_hash,
    }
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "scenario": loaded.origin, **found}, ensure_ascii=False))
        return
    from pagecast.cli.notices import implied_lines, of_machine, of_sources

    click.echo(
        f"{loaded.origin}: fine. {counted(loaded.processes, 'process', 'processes')} and "
        f"{counted(loaded.files, 'file')} on {counted(loaded.hosts, 'host')}; "
        f"models {', '.join(found['models'])}."
    )
    notes = (*of_sources(loaded), *of_machine(loaded))
    for line in (*implied_lines(loaded.machine), *(f"Note: {line}" for line in notes)):
        click.echo(line)
