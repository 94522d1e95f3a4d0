"""A benchmark as JSON and figures."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pagecast.benchmark.result import Benchmark, Measurement
from pagecast.export import PROVENANCE, new_directory

__all__ = ["SCHEMA_VERSION", "document", "save"]

SCHEMA_VERSION = 1
"""It grows when a key is renamed or removed."""


def document(done: Benchmark) -> dict[str, Any]:
    """Give everything as JSON has it.

    Parameters
    ----------
    done : Benchmark

    Returns
    -------
    dict
        Without ``schema_version``.
    """
    return {
        "provenance": done.provenance,
        "place": done.place,
        "settings": done.settings,
        "changed_settings": done.changed_settings,
        "device_rates": {
            target: {f"{direction}_bytes_per_s": value for direction, value in rates.items()}
            for target, rates in done.device_rates().items()
        },
        "copies": [
            {
                "direction": one.direction,
                "call_bytes": one.call_bytes,
                "threads": one.threads,
                "bytes_per_s": one.bytes_per_s,
                "least_bytes_per_s": min(one.rates),
                "greatest_bytes_per_s": max(one.rates),
            }
            for one in done.copies
        ],
        "cells": [_cell(one) for one in done.measurements],
        "notes": done.notes,
    }


def _cell(one: Measurement) -> dict[str, Any]:
    return {
        **one.cell._asdict(),
        "bytes_per_s": one.bytes_per_s,
        "least_bytes_per_s": min(one.rates),
        "greatest_bytes_per_s": max(one.rates),
        "spread": one.spread,
        "durable_bytes_per_s": one.durable_bytes_per_s,
        "served_by": one.served_by,
        "device_share": one.device_share,
        "memory_share": None if one.device_share is None else 1 - one.device_share,
        "copy_bytes_per_s": one.copy_bytes_per_s,
        "efficiency": one.efficiency,
        "is_above_device": one.is_above_device,
        "processor_wait_share": one.processor_wait_share,
        "is_prepared": one.is_prepared,
        "is_whole": one.is_whole,
        "fio_bytes_per_s": _median(one.fio_rates),
        "fio_rates_bytes_per_s": one.fio_rates,
        "repetitions": [
            asdict(repetition)
            | {
                "bytes_per_s": repetition.bytes_per_s,
                "durable_bytes_per_s": repetition.durable_bytes_per_s,
                "device_share": repetition.device_share,
            }
            for repetition in one.repetitions
        ],
    }


def _median(values: Sequence[float]) -> float | None:
    import statistics

    return statistics.median(values) if values else None


def save(
    done: Benchmark,
    directory: str | os.PathLike[str],
    *,
    force: bool = False,
    flame_graph: str | None = None,
) -> None:
    """Write results and figures, all or nothing.

    ``results.json``; ``rates.svg`` and ``rates.png`` where matplotlib is installed; ``flame-graph.svg`` if
    there is one.

    Parameters
    ----------
    done : Benchmark
    directory : path-like
    force : bool
        Replace an earlier output of pagecast.
    flame_graph : str, optional
        SVG.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    with new_directory(directory, replace=force) as folder:
        text = json.dumps({"schema_version": SCHEMA_VERSION, **document(done)}, indent=1, allow_nan=False)
        (folder / "results.json").write_text(f"{text}\n")
        (folder / PROVENANCE).write_text(f"{json.dumps(done.provenance, indent=1)}\n")
        if flame_graph is not None:
            (folder / "flame-graph.svg").write_text(flame_graph)
        _save_figure(done, folder)


def _save_figure(done: Benchmark, folder: Path) -> None:
    if find_spec("matplotlib") is None:
        return
    from pagecast.benchmark.drawing import draw
    from pagecast.plot.saving import optional_files, save_figure

    files = [folder / "rates.svg", folder / "rates.png"]
    with optional_files("rates", *files):
        figure = draw(done)
        save_figure(figure, files[0], metadata={"Date": None})
        save_figure(figure, files[1], dpi=150)
