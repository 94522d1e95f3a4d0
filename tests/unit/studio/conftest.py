"""A scenario whose writers are throttled, beside a reader; and a studio that serves it."""

import threading
from contextlib import contextmanager

import pytest

from pagecast.studio.serving import Server
from pagecast.studio.session import Asked, Session

SCENARIO = """\
models = ["kernel", "no-cache", "endless-cache"]
# the machine of the test
[parameter]
size = "2 GB"                            # of what is written
[machine]
cores = 4
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
[machine.vm]
dirty_ratio = 20
[machine.disk.ssd]
size = "100 GB"
read = "500 MB/s"
write = "200 MB/s"
service = "60 us"
[machine.mount."/data"]
disk = "ssd"
journal = {}
[[file]]
path = "/data/in"
size = "500 MB"
[[process]]
name = "writer{n}"
count = 2
do = [ { write = "/data/out{n}", size = "{size}", call = "1 MiB" }, { fsync = "/data/out{n}" } ]
[[process]]
name = "reader"
do = [ { read = "/data/in", call = "128 KiB" } ]
"""


def asked(*overrides, models=("kernel",), host=None, known="", page="page"):
    """Ask as the page does."""
    return Asked(page, tuple(overrides), tuple(models), host, known)


@contextmanager
def serving(session):
    """Serve a session in a thread."""
    server = Server(session)
    thread = threading.Thread(target=server.serve_until_stopped)
    thread.start()
    try:
        yield server
    finally:
        session.stop()
        server.should_exit = True
        thread.join()


@pytest.fixture
def path(tmp_path):
    """Write the scenario."""
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def session(path):
    return Session(path)
