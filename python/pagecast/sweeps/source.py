"""Reads a scenario, or a workload of another format, that is to be swept, and its table ``[sweep]``."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagecast.api import Scenario, load_machine, read_input
from pagecast.arguments import check_path, shown
from pagecast.errors import ScenarioError
from pagecast.sweep_table import sweep_table
from pagecast.toml_text import toml_key
from pagecast.workloads import PACKAGES, Reading, as_toml, format_of, scenario_text

__all__ = ["Source", "read_source"]

_AS_IT_IS = Reading()


@dataclass(frozen=True)
class Source:
    """A scenario as text, and how it asks to be swept.

    Attributes
    ----------
    text : bytes
        With the table, which the core passes over.
    origin, base_dir : str
        As for `Scenario.from_toml`.
    overrides : tuple of str
        As for ``--set``.
    vary : dict
        Values by key, as for `pagecast.sweeps.design.make_design`.
    measure : tuple of str
    sample, model : str or None
    """

    text: bytes
    origin: str
    base_dir: str
    overrides: tuple[str, ...] = ()
    vary: Mapping[str, object] = field(default_factory=dict)
    measure: tuple[str, ...] = ()
    sample: str | None = None
    model: str | None = None


def read_source(
    scenario: "str | os.PathLike[str] | Scenario",
    *,
    overrides: Sequence[str] = (),
    machine: str | None = None,
    reading: Reading = _AS_IT_IS,
) -> Source:
    """Read what is swept, without understanding more of it than its table ``[sweep]``.

    Parameters
    ----------
    scenario : path-like or Scenario
        ``-`` for standard input. A `Scenario` must come from TOML.
    overrides : sequence of str
    machine : str, optional
        Instead of the machine of a scenario; a workload of another format needs one.
    reading : Reading
        Of a workload.

    Returns
    -------
    Source

    Raises
    ------
    ScenarioError
        The file cannot be read, or its table cannot be understood.
    """
    if isinstance(scenario, Scenario):
        return _of_scenario(scenario, overrides)
    name = check_path("scenario", scenario)
    form = reading.format or format_of(name)
    if form is not None:
        return _of_workload(name, form, machine, reading, overrides)
    if machine is not None:
        load_machine(machine)  # what is wrong in it is its own fault, and not that of the scenario
        overrides = (f"machine={{ from = {as_toml(machine)} }}", *overrides)
    if name == "-":
        if sys.stdin is None:
            raise ScenarioError("<stdin>: is closed; name a file, or send the scenario to it")
        return _of_text(sys.stdin.buffer.read(), "<stdin>", os.getcwd(), overrides)
    return _of_text(read_input(name), shown(name), os.path.abspath(Path(name).parent), overrides)


def _of_scenario(scenario: Scenario, overrides: Sequence[str]) -> Source:
    if scenario.toml is None:
        raise ScenarioError(
            "a scenario that was made or changed in Python cannot be swept by keys; load one from TOML, "
            "or simulate it in a loop"
        )
    text, base_dir, own = scenario.toml
    return _of_text(text, scenario.origin, os.path.abspath(base_dir), (*own, *overrides))


def _of_workload(
    name: str, form: str, machine: str | None, reading: Reading, overrides: Sequence[str]
) -> Source:
    if machine is None:
        raise ScenarioError(
            f"{shown(name)}: a workload ({form}) needs a machine; add --machine FILE, "
            "or a name of `pagecast machine list`"
        )
    if form in PACKAGES or name == "-":
        raise ScenarioError(
            f"{shown(name)}: cannot be swept as it is; `pagecast convert` makes a file that can"
        )
    loaded = load_machine(machine)
    is_alone = loaded.hosts == ["machine"]
    head = f"machine = {{ from = {as_toml(machine)} }}" if is_alone else loaded.to_toml()
    text = scenario_text(os.path.abspath(name), head, reading)
    return _of_text(text.encode(), shown(name), os.getcwd(), overrides)


def _of_text(text: bytes, origin: str, base_dir: str, overrides: Sequence[str]) -> Source:
    table = sweep_table(text, origin)
    if table is not None and not isinstance(table, dict):
        raise ScenarioError(f'{origin}: sweep is a table; write [sweep] with measure = ["makespan"]')
    found = {} if table is None else _understood(table, f"{origin}: [sweep]")
    return Source(text, origin, base_dir, tuple(overrides), **found)


def _understood(table: dict[str, Any], where: str) -> dict[str, Any]:
    """Check the keys of the table."""
    known = ("vary", "measure", "sample", "model")
    strange = next((key for key in table if key not in known), None)
    if strange is not None:
        raise ScenarioError(f"{where}: unknown key `{shown(strange)}`; known keys: {', '.join(known)}")
    vary = table.get("vary", {})
    if not isinstance(vary, dict):
        raise ScenarioError(f'{where}: vary is a table; write vary."machine.vm.dirty_bytes" = "1GB,2GB"')
    measure = table.get("measure", [])
    measure = [measure] if isinstance(measure, str) else measure
    if not isinstance(measure, list) or not all(isinstance(each, str) for each in measure):
        raise ScenarioError(f'{where}: measure is a list of texts; write measure = ["p99(db fsync)"]')
    for key in ("sample", "model"):
        if not isinstance(table.get(key, ""), str):
            raise ScenarioError(f"{where}: {key} is a text")
    flat = {key: value for top, below in vary.items() for key, value in _flat(top, below)}
    return {
        "vary": flat,
        "measure": tuple(measure),
        "sample": table.get("sample"),
        "model": table.get("model"),
    }


def _flat(key: str, value: object) -> list[tuple[str, object]]:
    """Give nested tables as keys with dots; a key with other signs gets quotes, as after ``--set``."""
    if not isinstance(value, dict):
        return [(key, value)]
    found = []
    for name, below in value.items():
        found += _flat(f"{key}.{toml_key(name)}", below)
    return found
