"""Hit ratios of LRU over whole objects equal libCacheSim's on the same trace."""

from pathlib import Path

import pytest

from benches.objects import write_trace
from pagecast.recordings import read
from pagecast.workloads import Reading

lcs = pytest.importorskip("libcachesim")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200,000 requests for 20,000 objects, a few of them often."""
    path = tmp_path_factory.mktemp("traces") / "zipf.oracleGeneral"
    write_trace(path, requests=200_000, objects=20_000)
    return path


@pytest.mark.parametrize("size_bytes", [10_000, 1_000_000, 50_000_000, 10**9])
def test_misses_are_the_same(trace: Path, size_bytes: int) -> None:
    requests, hits, all_bytes, hit_bytes = read(trace, Reading()).object_lru(size_bytes)
    reader = lcs.TraceReader(str(trace), lcs.TraceType.ORACLE_GENERAL_TRACE)
    wanted = lcs.LRU(cache_size=size_bytes).process_trace(reader)
    assert (1 - hits / requests, 1 - hit_bytes / all_bytes) == pytest.approx(wanted, abs=1e-12)
