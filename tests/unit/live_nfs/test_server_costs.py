"""The costs of a server in its client's kernel, out of made-up times of the case m_memory."""

import pytest

from pagecast.studies.live_kernel.calibration import CASE
from pagecast.studies.live_kernel.recordings import Call, Recording
from pagecast.studies.live_nfs.calibration import server_costs

MIB = 2**20
RATE, ROUND_TRIP_S, CALL_S, WRITE_S, COMMIT_S = 100 * MIB, 2e-4, 1e-4, 8e-4, 3e-4
LINK = {
    "rate_bytes_per_s": RATE,
    "round_trip_s": ROUND_TRIP_S,
    "header_bytes": 0,
    "wsize": MIB,
    "calls_of_unlink": 2,
}


def recording(case, *calls):
    rows = tuple(Call("p0", 0.0, kind, "f", size, took_s, 1) for kind, size, took_s in calls)
    return Recording(case, 1, rows, (), None, None, None, None, None, None, None)


SYNC = ("fsync", 0, 64 * MIB / RATE + 2 * ROUND_TRIP_S + 2 * CALL_S + COMMIT_S + WRITE_S)
CLOSE = ("close", 0, ROUND_TRIP_S + CALL_S)
UNLINK = ("unlink", 0, 2 * (ROUND_TRIP_S + CALL_S) + 2 * COMMIT_S)
OPEN = ("open", 0, ROUND_TRIP_S + CALL_S + COMMIT_S)


def test_a_call_the_last_write_and_a_commit_are_what_the_link_leaves():
    costs = server_costs([recording(CASE, OPEN, ("write", 64 * MIB, 0.01), SYNC, CLOSE, UNLINK)], **LINK)
    found = (costs.call_s, costs.write_s, costs.commit_s)
    assert found == pytest.approx((CALL_S, WRITE_S, COMMIT_S))


@pytest.mark.parametrize(
    "calls",
    [
        [("write", MIB, 0.01), ("fsync", 0, 1.0)],
        [("write", 64 * MIB, 0.01), ("close", 0, 1.0)],
        [("close", 0, 3e-6)],
    ],
    ids=["one WRITE has no COMMIT", "a close that writes", "a delegation"],
)
def test_what_says_nothing_is_left_alone(calls):
    costs = server_costs([recording(CASE, *calls)], **LINK)
    assert (costs.call_s, costs.write_s) == (None, None)


def test_without_the_case_a_call_and_a_commit_are_lower_quartiles_of_others():
    late = ("close", 0, ROUND_TRIP_S + 9 * CALL_S)
    judged = recording("fsync1m", OPEN, ("write", 64 * MIB, 0.01), SYNC, CLOSE, UNLINK)
    costs = server_costs([recording("f4_writers", late, late), judged], **LINK)
    assert (costs.call_s, costs.write_s) == (pytest.approx(CALL_S), None)
    assert costs.commit_s == pytest.approx(COMMIT_S)
    assert server_costs([judged, recording(CASE, late)], **LINK).call_s == pytest.approx(9 * CALL_S)
