"""Writes down everything needed to repeat a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pagecast import _core
from pagecast.arguments import shown

__all__ = ["facts", "provenance"]


def provenance(
    study: str,
    *,
    source: str,
    command: str,
    machines: Mapping[tuple[str, str], str],
    seeds: int,
    overrides: Sequence[str],
    data: Path | None,
    left_out: Iterable[str],
) -> dict[str, object]:
    """Put the provenance of a study's results together.

    Parameters
    ----------
    study : str
    source : str
        Where the measurements come from.
    command : str
    machines : mapping of (str, str) to str
        The hash of each machine, by experiment and name.
    seeds : int
        How many, from 0.
    overrides : sequence of str
    data : Path or None
        The folder of full recordings.
    left_out : iterable of str
        Omissions, with reasons.

    Returns
    -------
    dict
        Only what JSON can hold.
    """
    return {
        "pagecast_version": _core.__version__,
        "study": study,
        "source": source,
        "command": command,
        "machines": [
            {"experiment": experiment, "machine": machine, "machine_hash": machine_hash}
            for (experiment, machine), machine_hash in machines.items()
        ],
        "seeds": list(range(seeds)),
        "overrides": list(overrides),
        "data": shown(data) if data else None,
        "left_out": list(left_out),
    }


def facts(of: Mapping[str, object], models: Sequence[str]) -> list[tuple[str, str]]:
    """Write the provenance as the names and values at the head of a report."""
    machines = of["machines"]
    assert isinstance(machines, list)
    return [
        ("Command", str(of["command"])),
        ("Version", f"pagecast {of['pagecast_version']}"),
        ("Models", ", ".join(models)),
        *(
            ("Machine", f"{one['experiment']}: {one['machine']} (hash {one['machine_hash'][:12]})")
            for one in machines
        ),
        ("Overrides", ", ".join(map(str, _texts(of["overrides"]))) or "none"),
        ("Recordings", str(of["data"] or "none; shipped summary tables only")),
        ("Source", str(of["source"])),
    ]


def _texts(value: object) -> list[object]:
    assert isinstance(value, list)
    return value
