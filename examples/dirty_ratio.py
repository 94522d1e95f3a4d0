"""After how many GB does a write slow down, and to what rate? It depends on `vm.dirty_ratio`.

A program writes 24 GB in pieces of 1 GB, on a machine with 32 GB of memory and a disk of 400 MB/s.
"""

import pagecast as pc

SCENARIO = """
[machine]
cores = 4
memory = { size = "32 GB", read = "8000 MB/s", write = "5000 MB/s" }
disk.ssd = { size = "500 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }

[[process]]
name = "writer"
do = [ { repeat = 24, do = [ { write = "/data/log", size = "1 GB", append = true } ] } ]
"""

for dirty_ratio in (10, 20, 40):
    scenario = pc.Scenario.from_toml(SCENARIO, set=[f"machine.vm.dirty_ratio={dirty_ratio}"])
    result = pc.simulate(scenario, model="wrench")
    seconds = result.operations["duration_s"]
    fast = sum(seconds < 2 * seconds.min())
    print(
        f"vm.dirty_ratio {dirty_ratio:2}: {fast:2} GB at {1 / seconds.min():.1f} GB/s, "
        f"then {1 / seconds.max():.2f} GB/s; {result.end_s:.1f} s in all"
    )
