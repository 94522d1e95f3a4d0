"""Explains a result: what an operation waited for and behind whom, and what happened at an instant.

`explaining` is the entry, `operation` and `instant` are the two kinds of answers, `levels` has the dirty
memory and the disks of both. `saved` reads the tables of a folder again, `wording` makes sentences, `drawing`
the picture.
"""

from pagecast.explanation.explaining import explain
from pagecast.explanation.instant import InstantExplained
from pagecast.explanation.operation import OperationExplained

__all__ = ["InstantExplained", "OperationExplained", "explain"]
