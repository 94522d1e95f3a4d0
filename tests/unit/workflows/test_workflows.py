"""Workflows of WfCommons on hosts with cores; `srasearch.json` was made with a recipe of WfCommons 1.6."""

import gzip
import json
from pathlib import Path

import pytest

import pagecast as pc
from pagecast.errors import ScenarioError
from tests.unit.workflows.laws import CLUSTER, MACHINE, ran

SRASEARCH = Path(__file__).parent / "srasearch.json"


@pytest.mark.parametrize("task_order", ["fifo", "depth", "priority"])
@pytest.mark.parametrize("machine", [MACHINE, CLUSTER], ids=["one host", "cluster"])
@pytest.mark.parametrize("model", ["kernel", "no-cache"])
def test_a_recipe_keeps_the_laws(task_order, machine, model, tmp_path):
    ran(SRASEARCH, tmp_path, machine, model, task_order=task_order).check()


def test_a_packed_instance_is_the_same(tmp_path):
    packed = tmp_path / "srasearch.json.gz"
    packed.write_bytes(gzip.compress(SRASEARCH.read_bytes()))
    (tmp_path / "machine.toml").write_text(MACHINE)
    plain, unpacked = (
        pc.simulate(pc.Scenario.from_workload(path, machine=tmp_path / "machine.toml"), model="no-cache")
        for path in (SRASEARCH, packed)
    )
    assert plain.operations.to_dict() == unpacked.operations.to_dict()


def instance(tmp_path: Path, runtimes: dict[str, dict[str, object]], files: dict[str, int]) -> Path:
    """Write an instance of tasks without parents that read all files and write one of their own."""
    tasks = [
        {"name": name, "id": name, "parents": [], "children": [], "inputFiles": list(files),
         "outputFiles": [f"{name}.out"]}
        for name in runtimes
    ]  # fmt: skip
    sizes = files | {f"{name}.out": 0 for name in runtimes}
    document = {
        "name": "test",
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {
                "tasks": tasks,
                "files": [{"id": name, "sizeInBytes": size} for name, size in sizes.items()],
            },
            "execution": {
                "makespanInSeconds": 0,
                "executedAt": "now",
                "tasks": [{"id": name, **recorded} for name, recorded in runtimes.items()],
            },
        },
    }
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(document))
    return path


def test_files_of_no_bytes_are_read_and_written(tmp_path):
    path = instance(tmp_path, {"a": {"runtimeInSeconds": 0}}, {"empty": 0})
    ran(path, tmp_path, MACHINE).check()


def test_a_task_holds_its_memory_until_it_ends(tmp_path):
    recorded = {"runtimeInSeconds": 1, "memoryInBytes": 12e9, "coreCount": 3}
    path = instance(tmp_path, {"a": recorded, "b": recorded}, {})
    both = ran(path, tmp_path, MACHINE)
    both.check()
    assert both.start("b") == both.end("a")


def test_cores_that_no_host_has_are_refused(tmp_path):
    path = instance(tmp_path, {"wide": {"runtimeInSeconds": 1, "coreCount": 5}}, {})
    with pytest.raises(ScenarioError, match="process `wide` wants 5 slots, and host `machine` has 4 cores"):
        ran(path, tmp_path, MACHINE)


def test_a_faster_machine_computes_for_less_time(tmp_path):
    path = instance(tmp_path, {"a": {"runtimeInSeconds": 8, "avgCPU": 50}}, {})
    assert ran(path, tmp_path, MACHINE).end_s == 8.0
    assert ran(path, tmp_path, MACHINE, core_speed=2.0).end_s == 4.0
    assert ran(path, tmp_path, MACHINE, compute="cpu").end_s == 4.0


def test_processes_of_python_have_slots_too(machine):
    def of(**slots):
        tasks = {name: pc.Process([pc.compute(1.0)], **slots) for name in ("a", "b", "c")}
        return pc.simulate(pc.Scenario(machine, processes=tasks), model="no-cache")

    result = of(slots=2)
    assert (result.end_s, result.slots) == (2.0, {"a": 2, "b": 2, "c": 2})
    assert (of().end_s, of().slots) == (1.0, {})


@pytest.mark.parametrize(
    ("slots", "what"),
    [
        ({"slots": 5}, "wants 5 slots, and host `machine` has 4 cores"),
        ({"hosts": ["machine"]}, "add slots=1"),
        ({"priority": 1}, "add slots=1"),
        ({"slots": 1, "hosts": ["machine"], "host": "machine"}, "remove one of them"),
        ({"slots": 1, "hosts": ["x"]}, "there is no host `x`"),
    ],
)
def test_slots_that_cannot_be_are_refused(slots, what, machine):
    with pytest.raises(ScenarioError, match=what):
        pc.Scenario(machine, processes={"a": pc.Process([pc.compute(1.0)], **slots)})
