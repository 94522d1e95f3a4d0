"""How long does fsync take beside a writer? As long as the queue of the disk, whatever the memory.

The scenario is in `fsync_beside_a_writer.toml`; docs/concepts/kernel.md explains the numbers.
"""

from pathlib import Path

import pagecast as pc

SCENARIO = Path(__file__).with_suffix(".toml")
MEASURED_MS = {"mean": (42.7, 41.7), "p90": (119.9, 119.9), "p99": (157.5, 163.6)}
"""Two repetitions on Linux 6.12; of 60 calls the 99th percentile is the longest."""


def fsync_ms(model: str = "kernel", until_s: float = 60.0, **machine: object) -> list[float]:
    """Give the durations of fsync begun until then, from the shortest on, with other keys of the machine."""
    changed = [f"machine.{key.replace('__', '.')}={value}" for key, value in machine.items()]
    table = pc.simulate(pc.Scenario.load(SCENARIO, set=changed), model=model).operations
    rows = zip(table["operation"], table["start_s"], table["duration_s"], strict=True)
    return sorted(1e3 * seconds for name, start, seconds in rows if name == "fsync" and start < until_s)


def summary(times: list[float]) -> dict[str, float]:
    """Give mean, 90th and 99th percentile: the smallest value that so many of all do not exceed."""
    mean = sum(times) / len(times)
    return {"mean": mean, "p90": times[-(-len(times) * 90 // 100) - 1], "p99": times[-1]}


for model in ("kernel", "no-cache", "endless-cache"):
    forecast = summary(fsync_ms(model))
    print(model + ": " + ", ".join(f"{name} {value:.1f} ms" for name, value in forecast.items()))
print("measured: " + ", ".join(f"{name} {low} and {high} ms" for name, (low, high) in MEASURED_MS.items()))
# Without the budgets of 20 ms, to whose ends the disk above rounds each wait.
for requests in (8, 32, 64):
    by_memory = []
    for memory in ("1666552 KiB", "16 GiB", "256 GiB"):
        limits = {"vm__dirty_bytes": "300 MiB", "vm__dirty_background_bytes": "150 MiB"}
        queue = {"disk__null__nr_requests": requests, "disk__null__limit_interval": "0 ms"}
        mean = summary(fsync_ms(until_s=3.5, memory__size=memory, **queue, **limits))["mean"]
        by_memory.append(f"{mean:.0f} ms with {memory}")
    print(f"{requests:3} requests: mean beside the writer " + ", ".join(by_memory))
