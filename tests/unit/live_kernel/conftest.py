"""A folder of recordings of a made-up kernel, and the machine that it runs on."""

import pytest

from tests.unit.live_kernel.recorder import A_WRITE, B_BOTH, M_MEMORY, MACHINE, record


@pytest.fixture
def data(tmp_path):
    """A folder with one platform, three cases, each repeated twice."""
    cases = {"m_memory": M_MEMORY, "a_write": A_WRITE, "b_both": B_BOTH}
    record(tmp_path / "data" / "tiny", cases, repetitions=2)
    return tmp_path / "data"


@pytest.fixture
def machine(tmp_path):
    """A machine file for the platform."""
    path = tmp_path / "tiny.toml"
    path.write_text(MACHINE)
    return str(path)
