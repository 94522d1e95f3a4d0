"""The rival `no-cache`: every read and write goes to the device.

What it models: an operation is one flow of all its bytes, on the read or the write side of the file's disk,
and over the link if the file is on another host.
Source: what SimGrid and WRENCH do without a page cache.
Leaves out: memory, requests, latency; fsync, truncate, drop_caches and the like take no time.
"""

from .policy import Call, Policy, Steps


class NoCache(Policy):
    def read(self, call: Call) -> Steps:
        yield self.machine.reading(call.host, call.path, call.size)

    def write(self, call: Call) -> Steps:
        yield self.machine.writing(call.host, call.path, call.size)
