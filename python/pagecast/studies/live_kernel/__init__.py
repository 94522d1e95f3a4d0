"""Cases on live Linux kernels, recorded call by call: forecast as they were repeated, and compared.

Models: a file of steps as processes of a scenario. Format of the recordings, and translation of steps:
README.md in this folder. Left out: journals, and what the disk's limit lets pass at first.
"""

from pagecast.studies.live_kernel.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
