"""Draws recordings that have the statistics of a description."""

import json
import os
from pathlib import Path

from pagecast._core import Recording, generate_recording
from pagecast.arguments import check_whole, shown
from pagecast.description.describing import Description
from pagecast.errors import ScenarioError

__all__ = ["generate"]


def generate(
    description: Description | str | os.PathLike[str], *, requests: int | None = None, seed: int = 0
) -> Recording:
    """Draw a recording with the statistics of a description.

    The mix of reads and writes, sizes, lengths of runs, reuse distances of their first pages, the use of
    files and processes, and the times between requests of a process have the distributions of the
    description. How one run depends on the run before is left out.

    Parameters
    ----------
    description : Description or path-like
        A path is that of a ``description.json``, or of the folder that has it.
    requests : int, optional
        As many as the description has if not given.
    seed : int
        The same seed gives the same recording.

    Returns
    -------
    Recording

    Raises
    ------
    ScenarioError
        It is no description.
    """
    check_whole("seed", seed, least=0, most=2**64 - 1)
    if isinstance(description, Description):
        origin, text = description.source, json.dumps(description.to_dict())
        described = description.totals["requests"]
    else:
        origin, text, described = _read(Path(description))
    wanted = described if requests is None else check_whole("requests", requests, least=1)
    return generate_recording(origin, text, wanted, seed)


def _read(path: Path) -> tuple[str, str, int]:
    file = path / "description.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
        found = json.loads(text)
    except OSError as error:
        raise ScenarioError(f"{shown(file)}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise ScenarioError(f"{shown(file)}: is no JSON; make a description with describe --out") from None
    if not isinstance(found, dict) or not isinstance(found.get("requests"), int):
        raise ScenarioError(f"{shown(file)}: is no description; make one with describe --out")
    return shown(file), text, found["requests"]
