"""What does a memory cgroup cost? Exp 2 of the WRENCH-cache paper with 8 applications, also inside 32 GB.

The scenario is in `cgroup_exp2.toml`; docs/concepts/kernel.md explains the numbers.
"""

from pathlib import Path

import pagecast as pc

SCENARIO = Path(__file__).with_suffix(".toml")


def mean_s(result: pc.Result, operation: str, task: int) -> float:
    """Give the mean duration of an operation of the n-th tasks."""
    table = result.operations
    rows = zip(table["operation"], table["process"], table["duration_s"], strict=True)
    found = [time for name, who, time in rows if name == operation and who.endswith(f"task{task}")]
    return sum(found) / len(found)


for cgroup in ("whole", "v2", "v1"):
    result = pc.simulate(pc.Scenario.load(SCENARIO, set=[f"parameter.cgroup={cgroup}"]), model="kernel")
    reads, writes = (
        " ".join(f"{mean_s(result, operation, task):5.1f}" for task in (1, 2, 3))
        for operation in ("read", "write")
    )
    row = result.cgroups["cgroup"].index(cgroup)
    peak, dirty = (result.cgroups[name][row] / 1e9 for name in ("memory_peak_bytes", "dirty_peak_bytes"))
    print(
        f"{cgroup:5}: {result.end_s:5.1f} s; reads {reads} s, writes {writes} s; "
        f"at most {peak:.0f} GB charged, {dirty:.1f} GB dirty"
    )
