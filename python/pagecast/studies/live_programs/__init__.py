"""Programs on live Linux kernels: fio's own numbers and traced commands, beside forecasts of the same files.

Models: a job file as fio runs it, and a trace as `pagecast simulate` replays it. Format of the recordings:
docs/guides/test-bed.md. Left out: what fio says beside bandwidth and latency of completion.
"""

from pagecast.studies.live_programs.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
