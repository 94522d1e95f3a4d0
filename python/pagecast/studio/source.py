"""Reads the scenario of a studio, again when it has changed on the disk."""

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pagecast.api import Scenario, read_input
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.studio.document import applied
from pagecast.studio.folder import files_in_folder

__all__ = ["Loaded", "Text", "Watched"]


@dataclass(frozen=True)
class Text:
    """A scenario as it was at one time.

    Attributes
    ----------
    revision : str
        Another one after each change of the scenario or of a file that it names.
    content : bytes
        TOML.
    """

    revision: str
    content: bytes


@dataclass(frozen=True)
class Loaded:
    """A scenario, and what tells it from others.

    Attributes
    ----------
    scenario : Scenario
    identity : tuple of str
        Equal only where the text, the values set and the files named are.
    """

    scenario: Scenario
    identity: tuple[str, ...]


class Watched:
    """A scenario's file, which somebody edits meanwhile.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._named: tuple[Path, ...] = ()

    @property
    def revision(self) -> str:
        """What tells one state of the files from another; "" while the scenario is not there."""
        return _revision((self.path, *self._named)) if self.path.exists() else ""

    def read(self) -> Text:
        """Read the scenario as it is now.

        Raises
        ------
        ScenarioError
            It cannot be read.
        """
        content = read_input(self.path)
        try:
            self._named = tuple(files_in_folder(tomllib.loads(content.decode()), self.path.parent))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ScenarioError):
            self._named = ()  # whoever loads it hears why
        return Text(self.revision, content)

    def load(self, text: Text, overrides: Sequence[str]) -> Loaded:
        """Understand a text with values set; it must keep to its folder.

        Parameters
        ----------
        text : Text
        overrides : sequence of str

        Returns
        -------
        Loaded

        Raises
        ------
        ScenarioError
            It cannot be understood, or it names a file outside of its folder.
        """
        named = _named_files(text.content, self.path, overrides)
        before = _revision(named)
        scenario = Scenario.from_toml(
            text.content, origin=shown(self.path), base_dir=self.path.parent, set=overrides
        )
        return Loaded(scenario, (text.revision, *overrides, before))


def _named_files(content: bytes, path: Path, overrides: Sequence[str]) -> list[Path]:
    """Find what is read before the core reads it; what is not understood here is not given to the core."""
    try:
        document = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        line = place[1] if place and place[1] else len(content.splitlines())
        what = str(error).replace(place[0], "") if place else str(error)
        where = f"{shown(path)}:{line}" if place else shown(path)
        raise ScenarioError(f"{where}: is no TOML: {what[:1].lower()}{what[1:]}") from None
    return files_in_folder(applied(document, overrides), path.parent)


def _revision(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            found.update(b"missing;")
            continue
        found.update(f"{status.st_mtime_ns} {status.st_size} {status.st_ino};".encode())
    return found.hexdigest()[:16]
