"""A dissertation on Petri nets of ext3 and PVFS: throughputs of a server, forecast from one machine file.

`loads` has its loads, `published` its figures; sources and pitfalls: README.md in this folder.
"""

from pagecast.studies.ext3.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
