"""How many requests per second go through an LRU cache of whole objects, beside libCacheSim in the same run.

    python benches/objects.py [--requests 5000000] [--repeat 5] [--out out/bench]

Both get the same file in the format oracleGeneral, in turn. Ours is first read into its binary form, which is
timed by itself. Hits and their bytes must be the same. libCacheSim is the package `libcachesim`; without it
only ours is timed.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from pagecast.recordings import read
from pagecast.workloads import Reading

RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
SHARES = (0.001, 0.01, 0.1)
"""Sizes of the cache, of all different bytes."""


def write_trace(path: Path, *, requests: int, objects: int, seed: int = 3) -> int:
    """Write requests for objects of up to 50 kB, a few of them often; give the bytes of all objects."""
    rng = np.random.default_rng(seed)
    records = np.zeros(requests, dtype=RECORD)
    records["time"] = np.arange(requests) // 1000
    records["object"] = rng.zipf(1.2, requests) % objects
    sizes = rng.integers(1, 50_000, objects)
    records["size"] = sizes[records["object"].astype(int)]
    records["next"] = -1
    records.tofile(path)
    return int(sizes[np.unique(records["object"]).astype(int)].sum())


def timed(call: Callable[[], tuple[float, float]]) -> tuple[float, tuple[float, float]]:
    """Give the seconds of a call, and its answer."""
    begun = time.perf_counter()
    answer = call()
    return time.perf_counter() - begun, answer


def theirs(path: Path, size: int) -> tuple[float, float]:
    """Give the ratios of misses and of missed bytes of libCacheSim's LRU."""
    import libcachesim as lcs

    reader = lcs.TraceReader(str(path), lcs.TraceType.ORACLE_GENERAL_TRACE)
    return lcs.LRU(cache_size=size).process_trace(reader)


def main() -> None:
    """Time all sizes; end with 1 if an answer is not the peer's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    has_peer = find_spec("libcachesim") is not None
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "zipf.oracleGeneral"
        everything = write_trace(path, requests=options.requests, objects=1_000_000)
        begun = time.perf_counter()
        recording = read(path, Reading())
        reading_s = time.perf_counter() - begun

        def ours(size: int) -> tuple[float, float]:
            requests, hits, all_bytes, hit_bytes = recording.object_lru(size)
            return 1 - hits / requests, 1 - hit_bytes / all_bytes

        for share in SHARES:
            size = int(share * everything)
            seconds: dict[str, list[float]] = {"pagecast": [], "libCacheSim": []}
            for _ in range(options.repeat):
                taken, mine = timed(lambda size=size: ours(size))
                seconds["pagecast"].append(taken)
                if has_peer:
                    taken, wanted = timed(lambda size=size: theirs(path, size))
                    seconds["libCacheSim"].append(taken)
                    if max(abs(a - b) for a, b in zip(mine, wanted, strict=True)) > 1e-12:
                        raise SystemExit(f"cache of {size} bytes: misses are {mine}, libCacheSim's {wanted}")
            rows.append({"cache_bytes": size, "miss_ratio": mine[0], "seconds": seconds})
    print(f"{options.requests:,} requests, reading {options.requests / reading_s / 1e6:.2f} million/s")
    print(
        "| cache, of all bytes | misses | pagecast (million/s) | libCacheSim (million/s) |\n|--:|--:|--:|--:|"
    )
    for share, row in zip(SHARES, rows, strict=True):
        cells = [speed(options.requests, taken) for taken in row["seconds"].values()]
        print(f"| {share:.1%} | {row['miss_ratio']:.1%} | {' | '.join(cells)} |")
    options.out.mkdir(parents=True, exist_ok=True)
    saved = {"requests": options.requests, "reading_s": reading_s, "rows": rows}
    (options.out / "objects.json").write_text(json.dumps(saved, indent=2) + "\n")


def speed(requests: int, seconds: list[float]) -> str:
    """Give median, least and greatest million requests per second."""
    if not seconds:
        return "not installed"
    rates = sorted(requests / taken / 1e6 for taken in seconds)
    return f"{statistics.median(rates):.2f} ({rates[0]:.2f} to {rates[-1]:.2f})"


if __name__ == "__main__":
    main()
