"""Two short notes on the page cache: a handful of printed figures each, forecast from one machine file.

`nvme` and `checksum` describe the measurements; the rest is the same for both. Sources and pitfalls:
README.md in this folder.
"""
