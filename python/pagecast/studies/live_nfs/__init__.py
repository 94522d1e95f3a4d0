"""NFS on live Linux kernels: cases recorded call by call at a client, beside forecasts of client and server.

Models: the page caches of both hosts, the link between them, and the server's disk. Format of the recordings:
README.md here. Left out: calls of metadata, and what a server was doing beside its clients.
"""

from pagecast.studies.live_nfs.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
