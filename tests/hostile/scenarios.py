"""Scenarios and machine files with one thing wrong in them."""

from collections.abc import Iterator

from tests.hostile.mutants import plain

__all__ = ["BROKEN", "OVERRIDES", "SEEDS", "VALUES", "broken", "lines_wrong"]

ONE_HOST = """\
models = «["kernel", "wrench", "no-cache"]»
residency = «"operation"»
[machine]
cores = «4»
kernel.version = «"6.1"»
[machine.memory]
size = «"2 GB"»
read = «"8000 MB/s"»
write = «"5000 MB/s"»
[machine.vm]
dirty_ratio = «20»
dirty_background_ratio = «10»
dirty_expire_centisecs = «3000»
dirty_writeback_centisecs = «500»
[machine.uncertainty]
"memory.write" = «"3 %"»
[machine.disk.ssd]
size = «"50 GB"»
read = «"520 MB/s"»
write = «"450 MB/s"»
latency = «"80 us"»
[machine.mount."/data"]
disk = «"ssd"»
type = «"ext4"»
[[file]]
path = «"/data/in{n}"»
count = «2»
size = «"100 MB"»
cached = «"10 MB"»
[[process]]
name = «"app{n}"»
count = «2»
start = «"1 s"»
do = [
  { read = «"/data/in{n}"», size = «"50 MB"», call = «"1 MiB"», buffer = «"fresh"» },
  { compute = «"1 s"» },
  { repeat = «3», as = «"k"», do = [ { write = «"/data/out{n}-{k}"», size = «"20 MB"» } ] },
  { free = «"1 MB"» } ]
[[process]]
name = «"last"»
after = «["app1", "app2"]»
do = [ { fsync = «"/data/out1-1"» }, { open = «"/data/out1-1"», flags = «["O_DIRECT"]» }, { sleep = «"1 s"» },
  { truncate = «"/data/out1-2"», size = «"1 MB"» }, { unlink = «"/data/out1-3"» }, { sync = «true» } ]
"""

TWO_HOSTS = """\
models = «["kernel", "no-cache"]»
[host.client]
cores = «2»
memory = «{ size = "2 GB", read = "8 GB/s", write = "5 GB/s" }»
mount."/data".nfs = «"server:/export"»
[host.server]
cores = 2
memory = { size = «"4 GB"», read = "8 GB/s", write = "5 GB/s" }
disk.d = { size = "50 GB", read = «"500 MB/s"», write = "400 MB/s" }
mount."/export".disk = «"d"»
[network]
level = «"segment"»
device_buffer = «"64 KiB"»
[link.lan]
between = «["client", "server"]»
rate = «"1 GB/s"»
latency = «"20 us"»
[parameter]
size = «"50 MB"»
where = "/data/{size}"
[[process]]
name = "app"
host = «"client"»
do = [ { write = «"/data/x"», size = «"{size}"» }, { signal = «"done"» },
  { copy = "/data/x", to = «"/data/y"», by = «"sendfile"» } ]
[[process]]
name = "other"
host = «"server"»
do = [ { wait = «"done"» }, { read = «"/export/x"», size = «"10 MB"» } ]
[tolerance]
total = «"10 %"»
"""

MACHINE = """\
cores = «8»
kernel.version = «"5.15"»
description = «"a machine"»
[memory]
size = «"8 GB"»
read = «"8 GB/s"»
write = «"5 GB/s"»
[disk.nvme0n1]
size = «"500 GB"»
read = «"3 GB/s"»
write = «"2 GB/s"»
[mount."/data"]
disk = «"nvme0n1"»
"""

SEEDS = {"one host": ONE_HOST, "two hosts": TWO_HOSTS, "machine": MACHINE}

VALUES = [
    '""',
    "nan",
    '"-1 GB"',
    "99999999999999999999",
    '"\\u0000"',
    "[]",
    '"1e400 GB"',
    "-1",
    '"{nobody}"',
    "{}",
    '"1 XB"',
    "true",
    '"/../../etc/passwd"',
    "0",
    '"nan s"',
    "inf",
    '"{"',
    "1979-05-27T07:32:00Z",
    '"99999999999999999999 GB"',
    '"relative"',
    "[[[]]]",
    '" "',
    "0.5",
    '"0 B/s"',
    f'"{"x" * 100_000}"',
    '"$x$ =1+1"',
    "1e400",
    '"inf GB/s"',
    '"a\\nb\\u001b[31m"',
    "-9223372036854775808",
    '"\U0001f4a9"',
    '"1 GB"',
    '"1 s"',
]
"""What stands for a value, one after the other."""


def lines_wrong(seed: str) -> Iterator[tuple[str, str]]:
    """Leave each line out, write each twice, and misspell each key."""
    lines = plain(seed).splitlines(keepends=True)
    for at, line in enumerate(lines):
        before, after = "".join(lines[:at]), "".join(lines[at + 1 :])
        what = line.strip()[:40]
        yield f"without {what}", before + after
        yield f"twice {what}", before + line + line + after
        yield f"misspelt {what}", before + line.replace("e", "é", 1) + after


def broken(seed: str) -> Iterator[tuple[str, bytes]]:
    """Break the file itself."""
    text = plain(seed).encode()
    for part in range(1, 12):
        yield f"its first {part}/12", text[: len(text) * part // 12]
    for name, junk in BROKEN.items():
        yield f"{name} before", junk + b"\n" + text
        yield f"{name} behind", text + b"\n" + junk
    yield "in UTF-16", plain(seed).encode("utf-16")
    yield "with other ends of lines", text.replace(b"\n", b"\r")


BROKEN = {
    "no UTF-8": b'x = "\xff\xfe"',
    "a null": b"\0",
    "a mark of byte order": "\ufeffx = 1".encode(),
    "a deep array": b"x = " + b"[" * 100_000,
    "deep tables": b"x = " + b"{a = " * 20_000 + b"1" + b"}" * 20_000,
    "a long dotted key": b".".join([b"a"] * 50_000) + b" = 1",
    "a long comment": b"# " + b"x" * 10_000_000,
    "a long string": b'x = "' + b"x" * 10_000_000 + b'"',
    "many keys": b"\n".join(b"k%d = 1" % n for n in range(100_000)),
    "many tables": b"[[process]]\n" * 50_000,
    "an open string": b'x = """',
    "random bytes": bytes(n * 7919 % 256 for n in range(2000)),
}

OVERRIDES = [
    "",
    "=",
    "=1",
    "machine",
    "machine=",
    "machine=1",
    "machine={}",
    "machine.memory=1",
    "machine.memory.size",
    "machine.memory.size=",
    "machine.memory.size=1",
    "machine.memory.size=1 GB=2 GB",
    "machine.memory.size=nan GB",
    "machine.memory.size=-1 GB",
    "machine.memory.size=1e400 GB",
    "machine.memory.size='1 GB",
    "machine..size=1 GB",
    ".=1",
    "machine.memory.size.more=1",
    'machine."memory=1',
    "machine.vm.dirty_ratio=101",
    "machine.vm.dirty_ratio=-1",
    "machine.vm.dirty_ratio=1e9",
    "machine.vm.dirty_ratio=99999999999999999999",
    "machine.vm.dirty_bytes=0 B",
    "machine.vm.dirty_background_bytes=1 B",
    "machine.vm.nothing=1",
    "machine.disk.ssd.read=0 MB/s",
    "machine.disk.ssd.read=inf GB/s",
    "machine.disk.sdd.read=1 GB/s",
    "machine.disk={}",
    "machine.from=nobody",
    "machine.from=/etc/passwd",
    "machine.from=/dev/zero",
    "machine.from=../../x.toml",
    "machine.kernel.version=6",
    "machine.kernel.version='six'",
    "machine.cores=0",
    "machine.cores=1e10",
    "process=[]",
    "process.app1.do=[]",
    "process.nobody.start=1 s",
    "process.last.after=['last']",
    "file.size=1 GB",
    "model.kernel.nothing=1",
    "model.nobody.x=1",
    "model.wrench.chunk=0 B",
    "models=[]",
    "models=['nobody']",
    "tolerance.total=-1 %",
    "parameter.size={size}",
    "\x1b[31m=1",
    "a\nb=1",
    "x" * 100_000,
    "\U0001f4a9=1",
    "machine.memory.size=[[[[[[[[1]]]]]]]]",
    "machine.memory.size={a={a={a=1}}}",
]
