"""Scenarios that never ended, or counted beyond their clock: each ends, or is refused with a reason."""

__all__ = ["ENDLESS"]

_HOST = """\
[machine]
cores = 1
memory = { size = "%s", read = "8 GB/s", write = "5 GB/s" }
disk.d = { size = "1 TB", read = "500 MB/s", write = "%s" }
mount."/d" = { disk = "d" }
"""
_REPEAT = "{ repeat = 1000000, do = [ %s ] }"
USUAL = _HOST % ("8 GB", "450 MB/s")


def _process(do: str, more: str = "") -> str:
    return f'[[process]]\nname = "p"\n{more}do = [ {do} ]\n'


ENDLESS = {
    "stable writes on a fast disk": _HOST.replace('"%s" }\nmount', '"%s", stable_writes = true }\nmount')
    % ("1 GB", "2 GB/s")
    + _process(
        '{ compute = "4 s" }, { write = "/d/x", size = "100 MB" }, '
        '{ write = "/d/x", size = "100 MB", call = "4 KiB" }'
    ),
    "a memory of 1 MB": _HOST % ("1 MB", "450 MB/s")
    + _process('{ write = "/d/y", size = "512 B" }, { compute = "20 s" }, { write = "/d/x", size = "5 MB" }'),
    "a memory of 1 B": _HOST % ("1 B", "450 MB/s") + _process('{ write = "/d/x", size = "5 MB" }'),
    "a disk of 1 kB/s": _HOST % ("8 GB", "1 kB/s")
    + _process('{ write = "/d/x", size = "20 GB" }, { sync = true }'),
    "a disk of 1 B/s": _HOST % ("8 GB", "1 B/s")
    + _process('{ write = "/d/x", size = "900 GB" }, { fsync = "/d/x" }'),
    "no periodic writeback": USUAL
    + "vm.dirty_writeback_centisecs = 0\n"
    + _process('{ write = "/d/x", size = "20 GB" }'),
    "600 years of sleep": USUAL + _process('{ repeat = 1000000, do = [ { sleep = "9000000 s" } ] }'),
    "600 years of computing": USUAL
    + _process('{ repeat = 1000000, do = [ { compute = "9000000 s" } ] }', "count = 3\n").replace(
        '"p"', '"p{n}"'
    ),
    "loops of nothing": USUAL + _process(_REPEAT % _REPEAT % '{ sleep = "0 s" }'),
    "many files": USUAL
    + '[[file]]\npath = "/d/f{n}"\nsize = "1 B"\ncount = 4000000000\n'
    + _process("{ sync = true }"),
    "many processes": USUAL + _process("{ sync = true }", "count = 4000000000\n").replace('"p"', '"p{n}"'),
    "many readers": USUAL
    + '[[file]]\npath = "/d/f"\nsize = "1 GB"\n'
    + _process('{ read = "/d/f" }', "count = 10000\n").replace('"p"', '"p{n}"'),
    "calls of 1 B": 'models = ["cawl"]\n'
    + USUAL
    + _process('{ write = "/d/x", size = "20 GB", call = "1 B" }'),
    # Processor time grows with the bytes over the memory: 20 TB through 8 GB take 14 s on quiet cores, and
    # more beside other work. Flushers submit a 2048th of the memory at once, and kswapd wakes as often.
    "a write of 20 TB": USUAL.replace("1 TB", "200 TB") + _process('{ write = "/d/x", size = "20 TB" }'),
    "parameters of parameters": USUAL
    + '[[file]]\npath = "/d/{p9}"\nsize = "1 GB"\n'
    + _process('{ read = "/d/in" }')
    + '[parameter]\np0 = "aaaaaaaaaa"\n'
    + "".join(f'p{n} = "{f"{{p{n - 1}}}" * 10}"\n' for n in range(1, 10)),
}
"""By what is endless."""
