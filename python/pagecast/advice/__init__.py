"""Advice: settings of an administrator that fulfil wishes, such as ``p99(db fsync) < 20 ms``.

`knob` is what can be set. `knobs` finds those of a machine, `programs` those of its processes, `finding` both
of a scenario, and `omissions` names those that it cannot try. `search` tries them, `advising` is the entry,
`ranging` draws ranges, `lines` has what to paste, `check` the command that checks it. Nothing is ever set.
"""

from pagecast.advice.advising import advise
from pagecast.advice.search import Advice

__all__ = ["Advice", "advise"]
