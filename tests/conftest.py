"""What all tests share: profiles of Hypothesis, and the rule that a skipped test is a listed one."""

import fnmatch
import signal
from pathlib import Path

import hypothesis
import pytest

# Deadlines measure the machine, not the code. The tests draw the same examples every time: whether a
# change passes is not a matter of luck. New ones are for fuzz/run.py, which repeats `fuzz` with new seeds.
hypothesis.settings.register_profile("default", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "fuzz", deadline=None, derandomize=False, max_examples=100, database=None, print_blob=True
)
hypothesis.settings.load_profile("default")

# Tests that are started with nohup or in the background would ignore these, and so would commands below them.
for _each, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_each) == signal.SIG_IGN:
        signal.signal(_each, _usual)

# The files that take longest, which begin first: no worker is left alone with one of them at the end.
LONG = [
    "plugins/test_simgrid.py",
    "property/test_kernel.py",
    "cli/test_output.py",
    "plugins/test_install.py",
    "cli/test_calibrate.py",
    "hostile/test_hostile.py",
    "property/test_laws.py",
    "unit/bed/test_real_host.py",
    "docs/test_docs.py",
]

SKIPS = Path(__file__).parent / "skips.txt"
skipped: list[str] = []


def listed_skips() -> dict[str, str]:
    """Read the list: the pattern of a test's name, then the reason."""
    lines = [line for line in SKIPS.read_text().splitlines() if line and not line.startswith("#")]
    return {pattern: reason.strip() for pattern, _, reason in (line.partition(" ") for line in lines)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first."""
    order = {Path(__file__).parent / name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path, len(LONG)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note skipped tests."""
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note skipped files."""
    if report.skipped:
        skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test was skipped that tests/skips.txt does not list."""
    patterns = listed_skips()
    strangers = [name for name in skipped if not any(fnmatch.fnmatchcase(name, each) for each in patterns)]
    if strangers and session.exitstatus == pytest.ExitCode.OK:
        print(f"\nskipped, but not listed in {SKIPS.name}: {', '.join(strangers)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
