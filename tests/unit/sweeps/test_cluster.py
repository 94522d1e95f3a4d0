"""A sweep on a Dask cluster gives the rows of one on this machine, also when a worker is killed."""

import os
import shutil
import signal
import subprocess

import pytest

import pagecast as pc
from pagecast.errors import ClusterError, MissingPackageError
from pagecast.sweeps import cluster
from pagecast.sweeps.point import Outcome
from tests.unit.sweeps.conftest import MEASURES

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

VARY = {"machine.vm.dirty_bytes": "64MB..1GB:log:20", "machine.disk.ssd.write": "200MB/s..400MB/s:lin:5"}

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and tornado, about themselves


@pytest.fixture
def four_workers():
    """A scheduler and four processes."""
    with distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def test_a_killed_worker_loses_nothing(four_workers, path, tmp_path):
    alone = pc.sweep(path, vary=VARY, measure=MEASURES, out=tmp_path / "alone")
    killed = []

    def kill(fraction, what):
        if fraction >= 0.3 and not killed:
            killed.append(next(iter(four_workers.workers.values())).process.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    address = four_workers.scheduler_address
    found = pc.sweep(path, vary=VARY, measure=MEASURES, on=address, out=tmp_path / "dask", progress=kill)
    assert killed
    assert found.rows == alone.rows
    files = [file.relative_to(tmp_path / "alone") for file in (tmp_path / "alone").rglob("*.*")]
    assert len(files) == 101
    for file in files:
        assert (tmp_path / "dask" / file).read_bytes() == (tmp_path / "alone" / file).read_bytes()


def test_a_cluster_of_its_own(path):
    vary = {"machine.cores": "1,2,3"}
    assert pc.sweep(path, vary=vary, on="dask", workers=1).rows == pc.sweep(path, vary=vary).rows


def test_another_version_is_refused(path, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "0.0.9")
    with pytest.raises(ClusterError, match=r"a worker has pagecast .*, and this is 0.0.9; install the same"):
        pc.sweep(path, vary={"machine.cores": "1,2,3"}, on="dask", workers=1)


def test_no_scheduler(path, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", "1s")
    with pytest.raises(ClusterError, match=r"tcp://127.0.0.1:9: the cluster cannot be reached"):
        pc.sweep(path, vary={"machine.cores": "1,2,3"}, on="tcp://127.0.0.1:9")


def test_tls_without_certificates(path):
    with pytest.raises(ClusterError, match=r"tls://x:1: TLS needs certificates; name them in Dask's config"):
        pc.sweep(path, vary={"machine.cores": "1,2,3"}, on="tls://x:1")


def test_tls_with_certificates_that_are_not_there(path, tmp_path):
    with (
        dask.config.set(certificates(tmp_path)),
        pytest.raises(ClusterError, match=r"cannot be read \(No such file or directory\)"),
    ):
        pc.sweep(path, vary={"machine.cores": "1,2,3"}, on="tls://x:1")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls_with_certificates_of_the_configuration(path, tmp_path):
    make_certificate(tmp_path)
    with (
        dask.config.set(certificates(tmp_path)),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=50,
            protocol="tls",
            security=distributed.Security(),
        ) as cluster,
    ):
        vary = {"machine.cores": "1,2,3"}
        assert cluster.scheduler_address.startswith("tls://")
        assert pc.sweep(path, vary=vary, on=cluster.scheduler_address).rows == pc.sweep(path, vary=vary).rows


def certificates(folder):
    """Dask's configuration of one certificate for all."""
    tls = {"distributed.comm.tls.ca-file": str(folder / "cert.pem")}
    for role in ("client", "scheduler", "worker"):
        tls[f"distributed.comm.tls.{role}.cert"] = str(folder / "cert.pem")
        tls[f"distributed.comm.tls.{role}.key"] = str(folder / "key.pem")
    return tls


def make_certificate(folder):
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=sweep"),
            *("-keyout", folder / "key.pem", "-out", folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
    )


def test_it_says_what_it_needs(path, monkeypatch):
    monkeypatch.setattr("pagecast.extras.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pagecast\[dask\]'"):
        pc.sweep(path, vary={"machine.cores": "1,2,3"}, on="dask")


def test_a_point_whose_workers_end_has_failed():
    class Killed:
        def result(self):
            raise distributed.scheduler.KilledWorker("task", None, 3)

    assert isinstance(cluster.outcome_of(Killed()), Outcome)
    assert (
        "its workers ended, one after the other; is there enough memory?"
        in cluster.outcome_of(Killed()).error
    )
