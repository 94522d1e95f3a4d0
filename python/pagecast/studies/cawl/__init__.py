"""The measurements of the CAWL paper (Gholami, Schintke 2023): long series of writes on two machines.

Models: one process that writes a file piece by piece, with or without computing in between. Source and
pitfalls of the data: README.md in this folder. The model `cawl` is also compared with its authors'
predictions. Left out: hosts of which nothing was published.
"""

from pagecast.studies.cawl.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
