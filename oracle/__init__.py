"""The policies again in plain Python: slow and obvious, the oracle for tests.

What it models: Linux (`kernel`), the WRENCH-cache simulator (`wrench`) and the two rivals (`no-cache`,
`endless-cache`) on machines with disks, memory, processors and a network, and the four experiments of the
WRENCH-cache paper.
Source: the kernel's sources; the published outputs and descriptions (README.md here says which rule
reproduces which of them).
Leaves out: the `cawl` policy. Nothing of pagecast is imported; only the standard library is.

    from oracle import experiments, run
    result = run(experiments.exp1(20), "wrench")
"""

from .policy import ImpossibleError
from .scenario import MODELS, run

__all__ = ["MODELS", "ImpossibleError", "run"]
