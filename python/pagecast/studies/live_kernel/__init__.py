"""Cases on live Linux kernels, recorded call by call: forecast as they were repeated, and compared.

Models: what a file of steps says, as processes of a scenario. Format of the recordings, and what a step
becomes: README.md in this folder. Left out: journals, and what the disk's limit lets pass at first.
"""

from pagecast.studies.live_kernel.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
