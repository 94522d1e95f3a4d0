"""What holds for every workflow, however its tasks are placed."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

import pagecast as pc
from pagecast.workloads import Reading


class Ran:
    """An instance of WfFormat 1.5 or 1.6 and a forecast of it on hosts with so many cores."""

    def __init__(self, instance: Path, result: pc.Result, cores: dict[str, int]) -> None:
        workflow = json.loads(instance.read_text())["workflow"]
        self.tasks = {task["id"]: task for task in workflow["specification"]["tasks"]}
        self.sizes = {file["id"]: file["sizeInBytes"] for file in workflow["specification"]["files"]}
        self.cores = cores
        self.slots = result.slots
        self.end_s = result.end_s
        operations = result.operations
        self.rows = defaultdict(list)
        for row in range(len(operations)):
            self.rows[operations["process"][row]].append({name: operations[name][row] for name in operations})
        for rows in self.rows.values():
            rows.sort(key=lambda row: row["index"])

    def ready(self, task: str) -> float:
        return self.rows[task][0]["start_s"]

    def start(self, task: str) -> float:
        return self.rows[task][0]["end_s"]

    def end(self, task: str) -> float:
        return max(row["end_s"] for row in self.rows[task])

    def check(self) -> None:
        """Check everything below."""
        self.check_order()
        self.check_bytes()
        self.check_cores()
        if set(self.slots.values()) == {1}:
            self.check_bound()

    def check_order(self) -> None:
        """A task is ready when its last parent ends, and its first row is the wait for cores."""
        assert self.rows.keys() == self.tasks.keys()
        for name, task in self.tasks.items():
            assert self.rows[name][0]["operation"] == "wait"
            assert self.ready(name) == max((self.end(parent) for parent in task["parents"]), default=0.0)

    def check_bytes(self) -> None:
        """A task reads its input files and writes its output files."""
        for name, task in self.tasks.items():
            for operation, key in (("read", "inputFiles"), ("write", "outputFiles")):
                moved = sum(row["bytes"] for row in self.rows[name] if row["operation"] == operation)
                assert moved == sum(self.sizes[file] for file in task[key])

    def check_cores(self) -> None:
        """No host ever gives out more cores than it has."""
        for host, cores in self.cores.items():
            here = [task for task in self.tasks if self.rows[task][0]["host"] == host]
            changes = [(self.end(task), -self.slots[task]) for task in here]
            changes += [(self.start(task), self.slots[task]) for task in here]
            assert np.cumsum([change for _, change in sorted(changes)]).max(initial=0) <= cores

    def check_bound(self) -> None:
        """A list schedule ends within work / cores + (1 - 1 / cores) x the longest path (Graham, 1969)."""
        took = {task: self.end(task) - self.start(task) for task in self.tasks}
        longest: dict[str, float] = {}
        for task in sorted(self.tasks, key=self.start):
            before = max((longest[parent] for parent in self.tasks[task]["parents"]), default=0.0)
            longest[task] = before + took[task]
        cores = sum(self.cores.values())
        path = max(longest.values())
        work = sum(took.values()) / cores
        assert max(path, work) <= self.end_s * (1 + 1e-9)
        assert self.end_s <= (work + (1 - 1 / cores) * path) * (1 + 1e-9)


MACHINE = """\
[machine]
cores = 4
memory = { size = "16 GB", read = "8 GB/s", write = "5 GB/s" }
disk.ssd = { size = "4 TB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""
"""A host with four cores."""

_MEMORY = 'memory = { size = "16 GB", read = "8 GB/s", write = "5 GB/s" }'
_CLIENT = 'mount."/data".nfs = "server:/export"'
_DISK = 'disk.d = { size = "4 TB", read = "500 MB/s", write = "400 MB/s" }, mount."/export".disk = "d"'

CLUSTER = f"""\
host.one = {{ cores = 2, {_MEMORY}, {_CLIENT} }}
host.two = {{ cores = 3, {_MEMORY}, {_CLIENT} }}
host.server = {{ cores = 4, {_MEMORY}, {_DISK} }}
link.one = {{ between = ["one", "server"], rate = "1.2 GB/s", latency = "50 us" }}
link.two = {{ between = ["two", "server"], rate = "1.2 GB/s", latency = "50 us" }}
"""
"""Two hosts that mount the directory of a third one."""


def ran(instance: Path, folder: Path, machine: str, model: str = "kernel", **reading: object) -> Ran:
    """Forecast an instance."""
    (folder / "machine.toml").write_text(machine)
    scenario = pc.Scenario.from_workload(
        instance, machine=folder / "machine.toml", reading=Reading(**reading)
    )
    cores = {"machine": 4} if machine == MACHINE else {"one": 2, "two": 3}
    return Ran(instance, pc.simulate(scenario, model=model), cores)
