"""pagecast forecasts Linux file I/O through the page cache.

Examples
--------
>>> import pagecast as pc
>>> def app():
...     yield pc.read("/data/f1", buffer="fresh")
...     yield pc.compute(28.0)
...     yield pc.write("/data/f2", size_bytes=20e9, call_bytes=2**20)
>>> scenario = pc.Scenario(
...     pc.load_machine("wrench-cluster"), processes={"app": app}, files={"/data/f1": 20e9}
... )
>>> result = pc.simulate(scenario, model="no-cache")
>>> result.operations["operation"]
['read', 'compute', 'write']
"""

import importlib

# As in `typing`, which takes longer to import than all else here: the command heeds Ctrl-C after this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pagecast import cache, cawl, errors, petri, plot
    from pagecast._core import (
        MODELS,
        Machine,
        Operation,
        Pattern,
        __version__,
        alloc,
        close,
        compute,
        copy,
        drain,
        drop_caches,
        exit,
        fadvise,
        fclose,
        fdatasync,
        fflush,
        fopen,
        fread,
        free,
        fseek,
        fsync,
        fwrite,
        mkdir,
        mmap,
        mmap_read,
        mmap_write,
        msync,
        munmap,
        now,
        open,
        read,
        readahead,
        rename,
        setvbuf,
        signal,
        sleep,
        sync,
        sync_file_range,
        syncfs,
        truncate,
        unlink,
        wait,
        write,
    )
    from pagecast.advice import Advice, advise
    from pagecast.api import File, Process, Scenario, list_disks, list_machines, load_machine
    from pagecast.benchmark import Benchmark, bench
    from pagecast.calibration import calibrate
    from pagecast.errors import PagecastError, ScenarioError, SimulationError
    from pagecast.explanation import explain
    from pagecast.result import Columns, Result
    from pagecast.running import Measured, run
    from pagecast.sweeps import Sweep, sweep
    from pagecast.uncertainty import simulate
    from pagecast.validation import Case, Tolerance, validate

__all__ = [
    "MODELS",
    "Advice",
    "Benchmark",
    "Case",
    "Columns",
    "File",
    "Machine",
    "Measured",
    "Operation",
    "PagecastError",
    "Pattern",
    "Process",
    "Result",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Sweep",
    "Tolerance",
    "__version__",
    "advise",
    "alloc",
    "bench",
    "cache",
    "calibrate",
    "cawl",
    "close",
    "compute",
    "copy",
    "drain",
    "drop_caches",
    "errors",
    "exit",
    "explain",
    "fadvise",
    "fclose",
    "fdatasync",
    "fflush",
    "fopen",
    "fread",
    "free",
    "fseek",
    "fsync",
    "fwrite",
    "list_disks",
    "list_machines",
    "load_machine",
    "mkdir",
    "mmap",
    "mmap_read",
    "mmap_write",
    "msync",
    "munmap",
    "now",
    "open",
    "petri",
    "plot",
    "read",
    "readahead",
    "rename",
    "run",
    "setvbuf",
    "signal",
    "simulate",
    "sleep",
    "sweep",
    "sync",
    "sync_file_range",
    "syncfs",
    "truncate",
    "unlink",
    "validate",
    "wait",
    "write",
]

# Imported at first use, so that `import pagecast` and `pagecast --help` stay quick. All names that are
# not here are in the compiled part.
_LAZY = {
    "Benchmark": "pagecast.benchmark",
    "Case": "pagecast.validation.case",
    "Columns": "pagecast.result",
    "File": "pagecast.api",
    "Measured": "pagecast.running",
    "PagecastError": "pagecast.errors",
    "Process": "pagecast.api",
    "Result": "pagecast.result",
    "Sweep": "pagecast.sweeps.result",
    "Scenario": "pagecast.api",
    "ScenarioError": "pagecast.errors",
    "SimulationError": "pagecast.errors",
    "Tolerance": "pagecast.tolerance",
    "bench": "pagecast.benchmark",
    "calibrate": "pagecast.calibration",
    "list_disks": "pagecast.api",
    "list_machines": "pagecast.api",
    "load_machine": "pagecast.api",
    "run": "pagecast.running",
    "simulate": "pagecast.uncertainty",
    "Advice": "pagecast.advice",
    "advise": "pagecast.advice",
    "explain": "pagecast.explanation",
    "sweep": "pagecast.sweeps.running",
    "validate": "pagecast.validation.validating",
}
_LAZY_MODULES = ("cache", "cawl", "errors", "petri", "plot")


def __getattr__(name: str) -> object:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"pagecast.{name}")
    if name in __all__:
        module = importlib.import_module(_LAZY.get(name, "pagecast._core"))
        value = globals()[name] = getattr(module, name)
        return value
    raise AttributeError(f"module 'pagecast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
