"""The four experiments: their scenario files, their cases, and the facts of each machine."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pagecast.studies.wrench_cache.tables import HERE, Key

__all__ = [
    "AS_RUN",
    "CALIBRATION",
    "EXPERIMENTS",
    "MEASURED_MACHINE",
    "MODELS",
    "PRODUCING",
    "PUBLISHED_MACHINE",
    "SERVER_PAYS",
    "TASK_OPERATIONS",
    "Case",
    "Experiment",
    "default_machine",
]

MODELS: Final = ("kernel", "wrench", "no-cache", "endless-cache")
"""The models that are asked by default: ours, the paper's own, then the two rivals."""

PUBLISHED_MACHINE: Final = "wrench-cluster-published"
MEASURED_MACHINE: Final = "wrench-cluster"

CALIBRATION: Final[dict[str, frozenset[Key]]] = {
    MEASURED_MACHINE: frozenset(
        {
            ("1", "20 GB", "read 1"),  # disk read rate: the disk log of this run
            ("1", "20 GB", "write 1"),  # disk write rate: the log of flushing what it wrote
            ("2", "21 applications", "read 1"),  # how unevenly readers are served
            ("2", "31 applications", "read 2"),  # what all threads together copy
            ("2", "31 applications", "read 3"),
        }
    ),
}
"""The measured points that a shipped machine file was made from; a forecast of them is no proof."""

AS_RUN: Final = "parameter.as_run=1"
"""Adds operations that the authors' simulators leave out, for the model that is not theirs."""

SERVER_PAYS: Final = "model.wrench.remote_memory=server"
"""Of memory, as published: reads take the server's, and the client is given back what it never paid."""

TASK_OPERATIONS: Final = tuple(f"{kind} {task}" for task in (1, 2, 3) for kind in ("read", "write"))
"""The operations of Exp 1 to 3 in the order in which an application does them."""

CPU_SECONDS: Final = {20: 28, 50: 75, 75: 110, 100: 155}
"""Computing time of a task by file size in GB, as in the authors' simulators (Table I)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One point of an experiment: its name, and its changes of the scenario."""

    name: str
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment of the paper.

    `file` is the scenario's, `hosts` are its tables whose `from` names the machine, `mount` is where that has
    the disk that they use. `process` is the name of a process without its number, or None where applications
    are averaged and no single process is meant.
    """

    number: str
    title: str
    hosts: tuple[str, ...]
    mount: str
    process: str | None
    cases: tuple[Case, ...]
    file: str

    @property
    def scenario(self) -> Path:
        """The shipped scenario file."""
        return HERE / self.file

    def overrides(self, model: str, machine: str) -> tuple[str, ...]:
        """Additions to the scenario for a model: published models get the authors' input."""
        if self.number == "3" and (model, machine) == ("wrench", PUBLISHED_MACHINE):
            return (SERVER_PAYS,)
        return (AS_RUN,) if model == "kernel" else ()


def default_machine(model: str) -> str:
    """Name the machine a model is judged on: published models on the published one, ours on the measured."""
    return MEASURED_MACHINE if model == "kernel" else PUBLISHED_MACHINE


def _sizes() -> tuple[Case, ...]:
    return tuple(
        Case(f"{size} GB", (f'parameter.size="{size} GB"', f'parameter.cpu="{cpu} s"'))
        for size, cpu in CPU_SECONDS.items()
    )


def _applications() -> tuple[Case, ...]:
    return tuple(Case(f"{n} applications", (f"parameter.apps={n}",)) for n in range(1, 33))


EXPERIMENTS: Final = {
    "1": Experiment(
        "1",
        "one application, local SSD",
        ("machine",),
        "/data",
        "task",
        _sizes(),
        file="exp1.toml",
    ),
    "2": Experiment(
        "2",
        "concurrent applications, local SSD",
        ("machine",),
        "/data",
        None,
        _applications(),
        file="exp2.toml",
    ),
    "3": Experiment(
        "3",
        "concurrent applications, NFS",
        ("host.client", "host.server"),
        "/export",
        None,
        _applications(),
        file="exp3.toml",
    ),
    "4": Experiment(
        "4",
        "Nighres, local SSD",
        ("machine",),
        "/data",
        "step",
        (Case("nighres"),),
        file="exp4.toml",
    ),
}
"""By number. Exp 2 and 3 are forecast for 1 to 32 applications, whether all were measured or not."""

PRODUCING: Final = replace(EXPERIMENTS["4"], file="exp4_producing.toml")
"""Exp 4 with the rate of the program's own computing."""
