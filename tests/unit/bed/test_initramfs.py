"""The archive that the guest begins with: what is in it, and in which order modules are loaded."""

import lzma
import stat
from dataclasses import dataclass

import pytest

from bed.initramfs import Archive, libraries_of, load_order
from bed.packages import BedError


@dataclass
class Entry:
    """A file of an archive, as the kernel reads it."""

    mode: int
    content: bytes
    device: tuple[int, int]


def read(archive):
    """Read the format newc: a header of thirteen numbers of eight hexadecimal digits, name, content."""
    entries, at = {}, 0
    while True:
        assert archive[at : at + 6] == b"070701"
        numbers = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, device, name_size = numbers[1], numbers[6], (numbers[9], numbers[10]), numbers[11]
        name = archive[at + 110 : at + 110 + name_size - 1].decode()
        at += (110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            return entries
        entries[name] = Entry(mode, archive[at : at + size], device)
        at += (size + 3) // 4 * 4


def test_files_come_after_the_folders_that_they_are_in():
    archive = Archive()
    archive.add("a/b/file", b"12345", mode=0o755)
    archive.link("a/link", "/b")
    archive.add("top", b"")
    archive.console()
    entries = read(archive.to_bytes())
    assert list(entries) == ["a", "a/b", "a/b/file", "a/link", "top", "dev", "dev/console"]
    assert (entries["a/b/file"].mode, entries["a/b/file"].content) == (stat.S_IFREG | 0o755, b"12345")
    assert (stat.S_ISLNK(entries["a/link"].mode), entries["a/link"].content) == (True, b"/b")
    assert (stat.S_ISCHR(entries["dev/console"].mode), entries["dev/console"].device) == (True, (5, 1))
    assert stat.S_ISDIR(entries["a/b"].mode)


def test_the_same_files_give_the_same_bytes():
    def made():
        archive = Archive()
        archive.add("x/y", b"z")
        return archive.to_bytes()

    assert made() == made()


@pytest.fixture
def modules(tmp_path):
    folder = tmp_path / "kernel" / "fs"
    folder.mkdir(parents=True)

    def module(depends):
        return b"\x7fELF\0license=GPL\0depends=" + depends + b"\0name=x\0"

    (folder / "ext4.ko.xz").write_bytes(lzma.compress(module(b"jbd2,crc16")))
    (folder / "jbd2.ko").write_bytes(module(b""))
    (folder / "crc16.ko").write_bytes(module(b""))
    (folder / "lz4-x.ko").write_bytes(module(b"lz4-there"))
    (tmp_path / "modules.builtin").write_text("kernel/lib/lz4-there.ko\n")
    return tmp_path


def test_a_module_is_loaded_after_those_that_it_needs_and_unpacked(modules):
    order = load_order(modules, ["ext4", "crc16"])
    assert [name for name, _ in order] == ["jbd2.ko", "crc16.ko", "ext4.ko"]
    assert all(content.startswith(b"\x7fELF") for _, content in order)


def test_what_is_built_in_is_not_loaded_and_names_may_have_dashes(modules):
    assert [name for name, _ in load_order(modules, ["lz4_x", "lz4_there"])] == ["lz4_x.ko"]


def test_a_module_that_is_nowhere_is_named(modules):
    with pytest.raises(BedError, match="no module zram"):
        load_order(modules, ["zram"])


def test_libraries_are_found_through_one_another(tmp_path):
    folder = tmp_path / "usr" / "lib" / "x86_64-linux-gnu"
    folder.mkdir(parents=True)
    (folder / "liba.so.1").write_bytes(b"\x7fELF\0libb-2.so\0")
    (folder / "libb-2.so").write_bytes(b"\x7fELF\0")
    (folder / "libother.so.1").write_bytes(b"\x7fELF\0")
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0liba.so.1\0libelsewhere.so\0")
    assert sorted(libraries_of(program, tmp_path)) == ["liba.so.1", "libb-2.so"]


def test_a_program_without_its_libraries_is_an_error(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0liba.so.1\0")
    with pytest.raises(BedError, match="none of its libraries"):
        libraries_of(program, tmp_path)
