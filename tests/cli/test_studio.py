"""`pagecast studio`: its help, what it refuses, and how it ends."""

import socket
import subprocess
import sys
import urllib.request

import pytest

from pagecast.exit_codes import ExitCode
from tests.cli.stopping import ENDINGS, stop

COMMAND = [sys.executable, "-m", "pagecast", "studio"]


def test_help_of_studio(pagecast, matches):
    matches(pagecast("studio", "--help"))


def refused(outcome):
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, "")
    return outcome.stderr


def test_a_package_that_is_missing(pagecast, monkeypatch):
    monkeypatch.setattr("pagecast.extras.find_spec", lambda name: None)
    assert refused(pagecast("studio", "scenario.toml")) == (
        "pagecast: error: the studio needs the package starlette; pip install 'pagecast[studio]'\n"
    )


def test_a_file_that_is_not_there(pagecast):
    assert refused(pagecast("studio", "nothing.toml")) == (
        "pagecast: error: nothing.toml: there is no such file\n"
    )


def test_a_workload_has_no_machine(pagecast):
    (pagecast.folder / "job.fio").write_text("[a]\nrw=read\nsize=1m\n")
    message = refused(pagecast("studio", "job.fio"))
    assert message.startswith("pagecast: error: job.fio: a workload (fio) has no machine; ")


def test_a_port_that_is_in_use(pagecast):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused(pagecast("studio", "scenario.toml", "--no-browser", "--port", str(port)))
    assert message == (f"pagecast: error: --port {port}: is in use; choose another one, or leave it out\n")


def test_a_port_that_cannot_be(pagecast):
    assert "65535" in refused(pagecast("studio", "scenario.toml", "--port", "65536"))


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.name)
def test_it_serves_until_it_is_interrupted(pagecast, ending):
    process = subprocess.Popen(
        [*COMMAND, "scenario.toml", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    assert line.startswith("The studio of scenario.toml is at http://127.0.0.1:")
    assert process.stdout.readline() == "Ctrl-C ends it.\n"
    with urllib.request.urlopen(line.split()[-1], timeout=60) as answer:
        assert b"pagecast" in answer.read()
    stop(process, ending)


def test_a_browser_is_opened(pagecast, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("pagecast.studio.serving.Server.serve_until_stopped", _closed)
    monkeypatch.setenv("DISPLAY", ":0")
    outcome = pagecast("studio", "scenario.toml")
    assert outcome.code == ExitCode.OK
    assert opened == [outcome.stdout.split()[6]]


def test_no_browser_takes_a_terminal_over(pagecast, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("no window can be opened here"))
    monkeypatch.setattr("pagecast.studio.serving.Server.serve_until_stopped", _closed)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert pagecast("studio", "scenario.toml").code == ExitCode.OK


def _closed(server):
    """End a server before it serves anything, but after a browser was told of it."""
    server.opening and server.opening.join(60)
    server.socket.close()
