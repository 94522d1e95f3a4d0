"""Cases of cgroups with `io.max` and `io.weight`: each can be played, and is near its recording."""

import csv
from pathlib import Path

import pytest

import pagecast as pc
from bed.cases import Scale
from bed.programs import CGROUPS, cases_of

FOLDER = Path(__file__).parents[3] / "bed" / "cgroups"
RECORDED = list(csv.DictReader((FOLDER / "recorded.csv").read_text().splitlines()))
MIB = 1 << 20


@pytest.mark.parametrize("name", CGROUPS)
def test_a_case_makes_its_cgroups_before_its_jobs_join_them(name):
    (case,) = cases_of([name], Scale.of(memory_mib=3072, dirty_ratio=20)).values()
    made = [line.split()[2] for line in case.files[f"{name}.fio.set-up"].splitlines() if "/cgroup.sh" in line]
    joined = [line.split("/")[2] for line in case.files[f"{name}.fio"].splitlines() if "exec_prerun" in line]
    assert joined
    assert set(joined) <= set(made)


@pytest.fixture(scope="module")
def forecasts():
    return {name: pc.simulate(pc.Scenario.load(FOLDER / f"{name}.toml"), model="kernel") for name in CGROUPS}


def test_every_case_has_a_forecast_and_a_recording(forecasts):
    assert {row["case"] for row in RECORDED} == set(forecasts) == set(CGROUPS)


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['case']} {row['job']}")
def test_bandwidths_are_within_a_fifth_of_what_was_recorded(forecasts, row):
    operations = forecasts[row["case"]].operations
    own = [at for at, process in enumerate(operations["process"]) if process == row["job"]]
    moved = sum(int(operations["bytes"][at]) for at in own)
    taken = sum(float(operations["duration_s"][at]) for at in own)
    assert moved / MIB / taken == pytest.approx(float(row["mib_per_s"]), rel=0.2)
