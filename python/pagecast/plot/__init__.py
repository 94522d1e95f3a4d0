"""Figures of one result; needs matplotlib.

Each function draws into the given axes or into new ones and returns them. No global style is set, and nothing
is shown.
"""

from pagecast.plot.bdi import bdi
from pagecast.plot.cache_content import cache_content
from pagecast.plot.devices import devices
from pagecast.plot.gantt import gantt
from pagecast.plot.latency import latency
from pagecast.plot.parts import parts
from pagecast.plot.rates import rates
from pagecast.plot.timeline import timeline

__all__ = ["bdi", "cache_content", "devices", "gantt", "latency", "parts", "rates", "timeline"]
