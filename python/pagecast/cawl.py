"""CAWL, the analytic model of writes: feed it chunks, get seconds and dirty bytes.

One class for each way of writing: `DirectCost` (O_DIRECT, Equation 2 of the paper), `SyncCost` (O_SYNC,
Equations 3 and 4), `SyscallCost` (buffered, Algorithm 1) and `LibraryCost` (a stream of the C library,
Algorithm 2).
Parameters have the names of the paper; rates are in bytes per second, costs and times in seconds, sizes in
bytes. Source: Gholami, Schintke, *CAWL: A Cache-aware Write Performance Model of Linux Systems*, 2023.
Left out, as published: reads, several writers, several devices.
"""

from pagecast._core import DirectCost, LibraryCost, SyncCost, SyscallCost

__all__ = ["DirectCost", "LibraryCost", "SyncCost", "SyscallCost"]
