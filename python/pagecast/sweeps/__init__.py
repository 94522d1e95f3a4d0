"""Sweeps: one scenario with many values of its keys, and a few measures of each.

`axis` and `design` read what is varied, `source` the scenario, `plan` has both. `point` simulates one point,
`local` and `cluster` many; `dataset` keeps the rows, `result` gives them, and `reading` reads them again.
`figures` draws them, `query` asks them in SQL.
"""

from pagecast.sweeps.result import Sweep
from pagecast.sweeps.running import sweep

__all__ = ["Sweep", "sweep"]
