"""The SimGrid driver does the workload that it is compared on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from simulate import build_simgrid  # noqa: E402


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("peer") / "peer"
    if reason := build_simgrid(program):
        pytest.skip(reason)
    return program


@pytest.mark.parametrize("chunk_mb", [3000, 100])
def test_times_are_size_over_shared_bandwidth(peer: Path, chunk_mb: int) -> None:
    command = [str(peer), "--apps", "64", "--chunk-mb", str(chunk_mb)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # Two hosts of 32: 3 tasks, each 2 x 32 x 3 GB over 465 MB/s, and 4.4 s on a core of one's own.
    assert answer["makespan_s"] == pytest.approx(3 * (2 * 32 * 3e9 / 465e6 + 4.4), rel=1e-9)


@pytest.fixture(scope="module")
def striped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("striped") / "striped"
    if reason := build_simgrid(program, ROOT / "benches" / "simgrid_peer" / "striped.cpp"):
        pytest.skip(reason)
    return program


@pytest.mark.parametrize("strip_kib", [1024, 64])
def test_a_call_on_striped_servers_is_link_then_disk_then_reply(striped: Path, strip_kib: int) -> None:
    command = [str(striped), "--clients", "1", "--servers", "16", "--size-mib", "8"]
    answer = subprocess.run([*command, "--strip-kib", str(strip_kib)], check=True, capture_output=True)
    # The client's link carries all of a call, each disk a strip; each way has two links of 20 us.
    call = 2**20 / 1.25e9 + strip_kib * 1024 / 2e9 + 2 * 40e-6
    replies = 200 * 2**20 / (strip_kib * 1024) / 1.25e9
    assert json.loads(answer.stdout)["makespan_s"] == pytest.approx(8 * (call + replies), rel=1e-6)


def test_an_unknown_option_ends_with_2(peer: Path) -> None:
    assert subprocess.run([str(peer), "--bogus"], capture_output=True, check=False).returncode == 2
