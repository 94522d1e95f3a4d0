"""Cases that run programs: the steps that are made of a job file and of a shell script."""

from bed.cases import Scale
from bed.programs import NAMES, case_of, cases_of

SCALE = Scale.of(memory_mib=2048, dirty_ratio=20)


def test_a_job_file_is_run_once_after_its_set_up():
    text = "; a job\n# set-up: dd if=/dev/zero of=a bs=1M count=4\n# set-up: drop\n[a]\nrw=read\n"
    case = case_of("mine.fio", text)
    assert case.files == {
        "mine.fio": text,
        "mine.fio.set-up": "set -e\ndd if=/dev/zero of=a bs=1M count=4\nsync\n",
    }
    steps = case.steps.splitlines()
    assert steps[:4] == ["exec dash /cases/mine.fio.set-up", "drop", "sleep 500", "mark fio"]
    assert steps[4].startswith("exec fio --output=/tmp/fio.json --output-format=json+ /cases/mine.fio")
    assert "drop" not in case_of("warm.fio", text.replace("# set-up: drop\n", "")).steps.splitlines()


def test_a_command_runs_cold_and_warm_without_and_with_strace():
    steps = case_of("mine.sh", "# set-up: mkdir in\ncp in/a out/a\n").steps.splitlines()
    runs = [step for step in steps if step.endswith("/cases/mine.sh")]
    assert runs == [
        "exec dash /cases/mine.sh",
        "exec dash /cases/mine.sh",
        "exec strace -f -ttt -T -y -s 0 -o /tmp/cold.strace dash /cases/mine.sh",
        "exec strace -f -ttt -T -y -s 0 -o /tmp/warm.strace dash /cases/mine.sh",
    ]
    assert [step for step in steps if step == "drop" or step.startswith("mark")] == [
        "drop", "mark cold", "mark warm", "drop", "mark cold_traced", "mark warm_traced",
    ]  # fmt: skip


def test_no_name_is_the_calibration_and_all_cases_of_the_project(tmp_path):
    assert list(cases_of([], SCALE)) == ["m_memory", "m_disk", *NAMES]
    assert len([name for name in NAMES if cases_of([name], SCALE)[name].files.get(f"{name}.fio")]) >= 8
    own = tmp_path / "own.sh"
    own.write_text("true\n")
    assert list(cases_of([str(own)], SCALE)) == ["own"]
