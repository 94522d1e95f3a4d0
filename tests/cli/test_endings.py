"""How the command ends: closed pipes, Ctrl-C, full disks, mistakes of ours. As a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pagecast.exit_codes import ExitCode
from pagecast.stopping import interrupted_by_signals

COMMAND = [sys.executable, "-m", "pagecast"]
ENDLESS = """\
[machine]
from = "wrench-cluster"
[[process]]
name = "app"
do = [ { repeat = 1000000, do = [ { repeat = 1000000, do = [ { sleep = "1 s" } ] } ] } ]
"""


def run(*arguments, **options):
    """Run the command as a user does."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, **options)


def test_closed_pipe_is_no_error(pagecast):
    process = subprocess.Popen(
        [*COMMAND, "simulate", "scenario.toml", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.wait(60) == ExitCode.OK
    assert process.stderr.read() == b""
    process.stderr.close()


def test_full_disk_behind_stdout(pagecast):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*COMMAND, "init", "-"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert ended.returncode == ExitCode.BAD_INPUT
    assert ended.stderr == "pagecast: error: the output cannot be written (No space left on device)\n"


@pytest.mark.parametrize("arguments", ["simulate scenario.toml", "--help", "simulate scenario.toml --json"])
def test_closed_stdout(arguments, pagecast):
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m pagecast {arguments} >&-"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == ExitCode.BAD_INPUT
    assert ended.stderr == ("pagecast: error: standard output is closed; send it to a file or to /dev/null\n")


def test_closed_stderr_and_stdin(pagecast):
    command = f"{sys.executable} -m pagecast"
    ended = subprocess.run(
        ["sh", "-c", f"{command} simulate scenario.toml 2>&- && {command} check - <&-"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Forecast" in ended.stdout
    assert ended.returncode == ExitCode.BAD_INPUT
    assert ended.stderr == "pagecast: error: <stdin>: is closed; name a file, or send the scenario to it\n"


def test_ctrl_c_stops_at_once(pagecast):
    (pagecast.folder / "endless.toml").write_text(ENDLESS)
    process = subprocess.Popen(
        [*COMMAND, "simulate", "endless.toml", "--model", "no-cache"], stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert (process.returncode, stderr) == (ExitCode.INTERRUPTED, "\npagecast: interrupted\n")


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_pipe_gets_no_colour(variables, pagecast):
    ended = run("simulate", "scenario.toml", env={**os.environ, **variables})
    assert ended.returncode == ExitCode.OK
    assert "\x1b" not in ended.stdout + ended.stderr


def test_a_mistake_of_ours_asks_for_a_report(pagecast, matches, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("an invented mistake")

    monkeypatch.setattr("pagecast.cli.options.load_scenario", broken)
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    outcome = pagecast("simulate", "scenario.toml")
    assert outcome.code == ExitCode.UNFORESEEN
    matches(outcome)


def test_the_traceback_comes_on_demand(pagecast, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("an invented mistake")

    monkeypatch.setattr("pagecast.cli.options.load_scenario", broken)
    monkeypatch.setenv("PAGECAST_DEBUG", "1")
    outcome = pagecast("simulate", "scenario.toml")
    assert outcome.code == ExitCode.UNFORESEEN
    assert "Traceback (most recent call last)" in outcome.stderr


AS_IT_BEGINS = """\
import sys
from pagecast.__main__ import main
print("begun", flush=True)
main()
"""


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3])
def test_ctrl_c_while_it_starts(after_s, pagecast):
    """Ctrl-C right after Enter met the imports: a traceback, or exit code 70 with the wish to report it."""
    (pagecast.folder / "endless.toml").write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-c", AS_IT_BEGINS, "simulate", "endless.toml", "--model", "no-cache"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (ExitCode.INTERRUPTED, "\npagecast: interrupted\n")


def test_the_command_begins_with_little():
    """Until the command heeds Ctrl-C, as little as possible is imported."""
    code = (
        "import sys; before = {*sys.modules}; import pagecast.__main__; print(len({*sys.modules} - before))"
    )
    assert int(subprocess.check_output([sys.executable, "-c", code])) <= 6


def test_an_interruption_that_becomes_another_failure(pagecast, monkeypatch):
    """Ctrl-C while NumPy was imported came back as a failure of the import, and ended with 70."""

    def broken(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise ImportError("half imported") from error

    monkeypatch.setattr("pagecast.cli.options.load_scenario", broken)
    outcome = pagecast("simulate", "scenario.toml")
    assert (outcome.code, outcome.stderr) == (ExitCode.INTERRUPTED, "\npagecast: interrupted\n")


def test_what_is_ignored_stays_ignored(pagecast):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupted_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
