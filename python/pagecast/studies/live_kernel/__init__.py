"""Cases on live Linux kernels, recorded call by call: forecast as they were repeated, and compared.

Models: what a file of steps says, as processes of a scenario. Format of the recordings, and what a step
becomes: README.md in this folder. Left out: files opened with O_SYNC or O_DIRECT, which no scenario can say
yet.
"""

from pagecast.studies.live_kernel.study import EXPERIMENTS, MODELS, LiveKernelOutcome, run

__all__ = ["EXPERIMENTS", "MODELS", "LiveKernelOutcome", "run"]
