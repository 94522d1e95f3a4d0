"""Timed coloured Petri nets: load or build one, run it, and look at what has become of its tokens.

Examples
--------
>>> from pagecast import petri
>>> net = petri.Net("two buffers")
>>> net.declare("colset INT = int timed;", "var n : INT;", "val total = 3;")
>>> source = net.place("Source", "INT", "1`1")
>>> sink = net.place("Sink", "INT")
>>> send = net.transition("Send", guard="n <= total", delay="@+5")
>>> net.arc(source, send, "n")
>>> net.arc(send, sink, "n")
>>> net.arc(send, source, "n + 1")
>>> run = net.run(seed=1)
>>> run.ended, run.time, run.marking["Page'Sink"]
('dead', 15, '1`1@5++1`2@10++1`3@15')
"""

from pagecast.petri.build import Node
from pagecast.petri.net import Net, load
from pagecast.petri.replications import Replications
from pagecast.petri.run import Run, Stepper
from pagecast.petri.space import StateSpace

__all__ = ["Net", "Node", "Replications", "Run", "StateSpace", "Stepper", "load"]
