"""How many reads a second does a disk serve, and how many of them have to be under way at once?

A program reads 4 KiB at random places, past the page cache, from a disk that answers after 90 us.
"""

import pagecast as pc

MACHINE = """
[machine]
cores = 4
memory = { size = "32 GB", read = "8000 MB/s", write = "5000 MB/s", cost = { call = "2 us" } }
disk.ssd = { size = "500 GB", read = "2 GB/s", write = "1 GB/s", latency = "90 us" }
mount."/data" = { disk = "ssd" }

[[file]]
path = "/data/f"
size = "100 GB"

[[process]]
name = "reader"
do = [
  { open = "/data/f", flags = ["O_DIRECT"] },
  { read = "/data/f", size = "80 MiB", call = "4 KiB", pattern = { random = "uniform", depth = "{depth}" } },
]

[parameter]
depth = 1
"""

for depth in (1, 4, 16, 64, 256):
    scenario = pc.Scenario.from_toml(MACHINE, set=[f"parameter.depth={depth}"])
    result = pc.simulate(scenario, model="kernel")
    print(f"depth {depth:3}: {80 * 256 / result.end_s / 1000:5.1f} thousand reads/s")
