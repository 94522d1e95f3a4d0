"""The page cache of Linux in a SimPy model: ``yield from cache.read(...)``.

Needs SimPy (``pagecast[simpy]``). The guide "Inside a SimPy model" shows how.
"""

from importlib.util import find_spec

if find_spec("simpy") is None:
    raise ModuleNotFoundError("pagecast.simpy needs SimPy; pip install 'pagecast[simpy]'", name="simpy")

from pagecast.simpy.cache import PageCache
from pagecast.simpy.served import Request, Serve
from pagecast.simpy.state import FileState, Latency, Memory, Outcome

__all__ = ["FileState", "Latency", "Memory", "Outcome", "PageCache", "Request", "Serve"]
