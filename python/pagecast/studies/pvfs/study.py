"""Forecast the dissertation's figures of PVFS, and judge their shape."""

from typing import Final

from pagecast.arguments import shown
from pagecast.comparison.rows import main_model
from pagecast.errors import StudyError
from pagecast.studies.pvfs import scenarios
from pagecast.studies.pvfs.outcome import PvfsOutcome
from pagecast.studies.pvfs.report import PRESENTATION
from pagecast.studies.pvfs.shapes import BLOCKS_KIB, CLIENTS, FILES_KIB, judge_clients, judge_files
from pagecast.studies.skeleton import Asked, Study

__all__ = ["STUDY"]

MACHINE: Final = "dell-pe1850"

FILE_KIB: Final = 64 * 1024
"""The file of each client; throughput does not depend on it (section 3.3.3, and the experiment `files`)."""

BLOCK_KIB: Final = 64
"""The block of the curve over files: one strip."""


def _forecast(asked: Asked) -> PvfsOutcome:
    if asked.data is not None:
        raise StudyError(f"pvfs has what the dissertation prints; leave --data {shown(asked.data)} out")
    machine = asked.machine or MACHINE
    model = main_model(asked.models)
    hashes: dict[tuple[str, str], str] = {}

    def rates(experiment: str, clients: int, file_kib: int, block_kib: int) -> dict[str, list[float]]:
        case = scenarios.case(clients, file_kib, block_kib)
        result = asked.simulate(
            case, clients=clients, model=model, machine=machine, overrides=asked.overrides
        )
        hashes.setdefault((experiment, machine), result.machine_hash)
        return scenarios.rates(result, clients, file_kib)

    by_block: dict[int, dict[int, dict[str, list[float]]]] = {}
    by_file: dict[int, dict[str, list[float]]] = {}
    plan = [(clients, FILE_KIB, block) for clients in CLIENTS for block in BLOCKS_KIB]
    if "clients" not in asked.experiments:
        plan = []
    files = [(1, file, BLOCK_KIB) for file in FILES_KIB] if "files" in asked.experiments else []
    steps = [("clients", *one) for one in plan] + [("files", *one) for one in files]
    for experiment, clients, file_kib, block_kib in asked.steps(steps, _called):
        found = rates(experiment, clients, file_kib, block_kib)
        if experiment == "files":
            by_file[file_kib] = found
        else:
            by_block.setdefault(clients, {})[block_kib] = found
    shapes = [*(judge_clients(by_block) if by_block else ()), *(judge_files(by_file) if by_file else ())]
    return PvfsOutcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=(model,),
        machine=machine,
        by_block=by_block,
        by_file=by_file,
        shapes=tuple(shapes),
        rows=(),
        provenance=asked.provenance(hashes),
    )


def _called(step: tuple[str, int, int, int]) -> str:
    _, clients, file_kib, block_kib = step
    return f"{clients} clients, files of {file_kib} KiB, blocks of {block_kib} KiB"


STUDY: Final = Study(
    name="pvfs",
    source="a dissertation on Petri nets of ext3 and PVFS, chapters 3.3, 6 and 7",
    experiments=("clients", "files"),
    models=("kernel",),
    forecast=_forecast,
    simulate=scenarios.run,
)
