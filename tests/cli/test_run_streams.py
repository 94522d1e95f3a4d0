"""`pagecast run` with streams of the C library, on a real disk."""

import json

import pytest

from pagecast.exit_codes import ExitCode
from tests.cli.test_run import MACHINE
from tests.disk import folder_on_disk

STREAMS = """\
[[process]]
name = "app"
do = [
  { fopen = "/data/out", mode = "w+", buffer = "64 KiB" },
  { fwrite = "/data/out", size = "300 kB", call = "512 B" },
  { fflush = "/data/out" },
  { fread = "/data/out", offset = "100 kB", call = "1 kB" },
  { fopen = "/data/log", mode = "a", stream = "c" },
  { fwrite = "/data/log", size = "100 B" },
  { sleep = "10 ms" },
]
"""


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk, and how to run processes there."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        (folder / "there").mkdir()
        yield pagecast


def run(on_disk, processes):
    """Run a scenario with these processes."""
    (on_disk.folder / "s.toml").write_text(MACHINE + processes)
    return on_disk("run", "s.toml", "--dir", "there", "--json")


def test_a_run_calls_the_c_library_and_has_the_rows_of_a_forecast(on_disk):
    measured = json.loads(run(on_disk, STREAMS).stdout)["runs"][0]["operations"]
    forecast = json.loads(on_disk("simulate", "s.toml", "--json").stdout)["runs"][0]["operations"]

    def rows(table):
        return list(
            zip(*(table[column] for column in ("operation", "path", "offset_bytes", "bytes")), strict=True)
        )

    assert rows(measured) == rows(forecast)
    # Those that are open at the end.
    assert [row[:2] for row in rows(measured)[-2:]] == [("fclose", "/data/log"), ("fclose", "/data/out")]


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        (
            "{ fopen = '/data/f', mode = 'w', stream = 'python' }",
            "a stream of python, which this program does not have, cannot be run for real",
        ),
        (
            "{ fopen = '/data/f', mode = 'w' }, { fread = '/data/f', size = '1 B' }",
            'which was opened in mode "w"; open it in mode "r" or "r+"',
        ),
        (
            "{ fopen = '/data/f', mode = 'w' }, { fwrite = '/data/f', size = '1 B' }, "
            "{ setvbuf = '/data/f', size = '1 KiB' }",
            "which was read or written before; choose its buffer right after `fopen`",
        ),
        (
            "{ fopen = '/data/f', mode = 'w+' }, { fread = '/data/f', size = '1 B' }",
            "reads 1 B at offset 0 B of /data/f, which has 0 B",
        ),
    ],
)
def test_what_a_stream_cannot_do_is_one_message(on_disk, operations, message):
    outcome = run(on_disk, f"[[process]]\nname = 'p'\ndo = [ {operations} ]\n")
    assert outcome.code in (ExitCode.BAD_INPUT, ExitCode.SIMULATION_FAILED)
    assert "s.toml:9: " in outcome.stderr
    assert message in outcome.stderr
