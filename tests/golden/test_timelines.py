"""What happens, in words: a change of a model shows here as a diff that a person can read.

`make golden` rewrites the files beside this one.
"""

import os
from pathlib import Path

import pytest

import pagecast

HERE = Path(__file__).parent
MODELS = ("wrench", "no-cache", "endless-cache")

# A host so small that everything happens: throttling, eviction, the periodic flush, a hit, a miss.
SCENARIO = b"""
[machine]
cores = 2
vm.dirty_ratio = 20
[machine.memory]
size = "4 GB"
read = "4000 MB/s"
write = "4000 MB/s"
[machine.disk.ssd]
size = "100 GB"
read = "500 MB/s"
write = "250 MB/s"
sharing = "time"
[machine.mount."/data"]
disk = "ssd"
[[file]]
path = "/data/in"
size = "2 GB"
[[process]]
name = "writer"
do = [ { read = "/data/in", buffer = "fresh" }, { compute = "2 s" }, { write = "/data/out", size = "2 GB" },
       { free = "all" }, { sleep = "40 s" }, { read = "/data/out" } ]
[[process]]
name = "reader"
start = "1 s"
do = [ { read = "/data/in" }, { write = "/data/log", size = "300 MB" }, { fsync = "/data/log" } ]
"""


@pytest.mark.parametrize("model", MODELS)
def test_a_small_host_has_the_same_story_as_ever(model: str) -> None:
    told = story(pagecast.simulate(pagecast.Scenario.from_toml(SCENARIO), model=model))
    golden = HERE / f"small_host-{model}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(told)
    assert told == golden.read_text()


def story(result: pagecast.Result) -> str:
    """Tell what happened: each operation with its parts, then the memory at each change of a tenth."""
    lines = [f"{result.model}: what each operation took"]
    parts = [name for name in result.parts if name.endswith("_s")]
    for row in range(len(result.operations)):
        cell = {name: result.operations[name][row] for name in result.operations}
        spent = ", ".join(
            f"{name[:-2]} {result.parts[name][row]:.6f}" for name in parts if result.parts[name][row] > 0
        )
        what = f"{cell['process']} {cell['operation']} {cell['path']}".strip()
        lines.append(f"{cell['start_s']:11.6f} .. {cell['end_s']:11.6f}  {what:<24} {spent}".rstrip())
    lines.append("memory, in GB: time, anonymous, cached, dirty")
    shown = None
    for row in range(len(result.timeline)):
        levels = tuple(
            round(float(result.timeline[f"{name}_bytes"][row]) / 1e9, 1)
            for name in ("anonymous", "cached", "dirty")
        )
        if levels != shown:
            lines.append(
                f"{result.timeline['time_s'][row]:11.6f}  " + "  ".join(f"{each:.1f}" for each in levels)
            )
            shown = levels
    return "\n".join(lines) + "\n"
