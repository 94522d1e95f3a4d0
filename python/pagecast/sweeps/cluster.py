"""Simulates points on a Dask cluster: one of its own on this machine, or one whose scheduler is running.

The scheduler gives the point of a worker that ends to another one. A point whose workers have ended too
often (``allowed-failures`` of Dask, three times) has failed. Workers must have the same version of pagecast,
and the files that a scenario names.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final

from pagecast._core import __version__
from pagecast.arguments import shown
from pagecast.errors import ArgumentError, ClusterError
from pagecast.extras import require
from pagecast.sweeps.local import Todo, processors
from pagecast.sweeps.point import Outcome, Task

__all__ = ["check_cluster", "outcome_of", "run_on_dask"]

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+")

_PATIENCE: Final = "15s"
"""How long a scheduler may take to answer."""

_UNDER_WAY = 8
"""Points per processor of the cluster that the scheduler knows at a time."""

_FEWEST_UNDER_WAY = 64


def check_cluster(on: str) -> None:
    """Check that this names a cluster and that Dask is installed, before any work is done.

    Parameters
    ----------
    on : str
        ``dask``, or the address of a scheduler.

    Raises
    ------
    ArgumentError
        It is neither.
    ClusterError
        It needs certificates, and Dask's configuration names none that can be read.
    MissingPackageError
        distributed is not installed.
    """
    if on != "dask" and _ADDRESS.fullmatch(on) is None:
        raise ArgumentError(f"`{shown(on)}` is no place for a sweep; write local, dask, or tcp://HOST:PORT")
    require("distributed", "dask", "a sweep on a cluster")
    if on.startswith("tls://"):
        _check_certificates(on)


def _check_certificates(on: str) -> None:
    """Check that Dask's configuration has the certificates that a client takes from it."""
    import dask.config
    from distributed import Security

    if dask.config.get("distributed.client.security-loader", None) is not None:
        return  # a function of the user's gives them
    try:
        context = Security().get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise ClusterError(
            f"{shown(on)}: the certificates that Dask's configuration names cannot be read "
            f"({error.strerror}); check distributed.comm.tls there"
        ) from None
    if context is None:
        raise ClusterError(
            f"{shown(on)}: TLS needs certificates; name them in Dask's configuration as "
            "distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and "
            "distributed.comm.tls.client.key"
        )


def run_on_dask(
    task: Task, todo: Todo, *, on: str, workers: int | None = None
) -> Generator[tuple[int, Outcome], None, None]:
    """Simulate points.

    Parameters
    ----------
    task : Task
    todo : sequence of tuple of int and overrides
    on : str
        As for `check_cluster`.
    workers : int, optional
        Processes of a cluster on this machine; one for each processor if not given.

    Yields
    ------
    tuple of int and Outcome
        The number of a point and what it gave, in the order in which points end.

    Raises
    ------
    ClusterError
        The cluster cannot be reached, or a worker has another version of pagecast.
    """
    if not todo:
        return
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        try:
            if on == "dask":
                cluster = LocalCluster(
                    n_workers=workers or processors(),
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=50,
                )
                client = stack.enter_context(Client(stack.enter_context(cluster)))
            else:
                client = stack.enter_context(Client(on, timeout=_PATIENCE))
        except (OSError, TypeError, ValueError, RuntimeError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ClusterError(f"{shown(on)}: the cluster cannot be reached ({said})") from None
        yield from _outcomes(client, task, todo)


def _outcomes(client: Any, task: Task, todo: Todo) -> Generator[tuple[int, Outcome], None, None]:
    """Keep the scheduler busy, but let it not know everything at once."""
    from distributed import as_completed

    steps = iter(todo)
    index_of: dict[Any, int] = {}

    def submitted() -> Iterator[Any]:
        for index, overrides in steps:
            future = client.submit(task.outcome, overrides, pure=False, retries=1)
            index_of[future] = index
            yield future

    more = submitted()
    most = max(_FEWEST_UNDER_WAY, _UNDER_WAY * sum(client.nthreads().values()))
    first = list(islice(more, most))
    under_way = as_completed(first)
    for future in under_way:
        index = index_of.pop(future)
        outcome = outcome_of(future)
        if outcome.version != __version__:
            raise ClusterError(
                f"a worker has pagecast {outcome.version}, and this is {__version__}; install the same"
            )
        yield index, outcome
        future.release()
        following = next(more, None)
        if following is not None:
            under_way.add(following)


def outcome_of(future: Any) -> Outcome:
    """Give what a point gave, when it is there.

    Parameters
    ----------
    future : distributed.Future

    Returns
    -------
    Outcome
        A failure if its workers have ended, one after the other.

    Raises
    ------
    ClusterError
        The cluster has ended, or its workers do not know pagecast.
    """
    from asyncio import CancelledError

    from distributed.scheduler import KilledWorker

    try:
        outcome = future.result()
    except KilledWorker:
        return Outcome((), "its workers ended, one after the other; is there enough memory?", "worker")
    except (ImportError, OSError, RuntimeError, CancelledError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(
            f"the cluster does not answer as it should ({said}); is pagecast on its workers?"
        ) from None
    assert isinstance(outcome, Outcome), "a task gives an outcome"
    return outcome
