"""What the package manager says, and what a missing one leads to."""

import pytest

from bed.packages import RECORDED, BedError, Packages, candidate, kernel_of, suites

TARGETS = """\
http://a.example/debian\tbookworm\tmain\tDebian
http://a.example/debian\tbookworm\tmain\tDebian
http://a.example/debian\tbookworm\tcontrib\tDebian
http://other.example\tstable\tmain\tSomebody
http://a.example/security\tbookworm-security\tmain\tDebian
no table at all
"""


def test_suites_are_those_of_the_distribution_in_their_order():
    assert suites(TARGETS) == [
        ("http://a.example/debian", "bookworm"),
        ("http://a.example/security", "bookworm-security"),
    ]


@pytest.mark.parametrize(
    ("policy", "version"),
    [
        ("linux-image-amd64:\n  Installed: (none)\n  Candidate: 6.12.95-1~bpo12+1\n", (6, 12)),
        ("x:\n  Candidate: 1:7.2+dfsg-7\n", (7, 2)),
        ("x:\n  Candidate: (none)\n", None),
        ("", None),
    ],
)
def test_the_version_that_would_be_taken(policy, version):
    assert candidate(policy) == version


def test_the_kernel_is_what_the_newest_depends_on():
    text = "linux-image-amd64\n  Depends: linux-image-6.12.95+deb12-amd64\n  Suggests: linux-doc\n"
    assert kernel_of(text) == "linux-image-6.12.95+deb12-amd64"
    assert kernel_of("linux-image-amd64\n") is None


def test_without_the_package_manager_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BedError, match="apt-get is not here"):
        Packages(tmp_path / "bed").fetch()
    assert not (tmp_path / "bed").exists()


def test_what_is_complete_is_not_fetched_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    packages = Packages(tmp_path)
    assert not packages.is_there()
    packages.root.mkdir()
    (packages.root / ".complete").touch()
    assert packages.is_there()
    packages.fetch()


def test_programs_are_fetched_once_and_anew_when_there_are_others(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    packages = Packages(tmp_path)
    packages.root.mkdir()
    (packages.root / ".complete").touch()
    (packages.root / ".more").write_text("fio\n")
    assert packages.has(["fio"])
    assert not packages.has(RECORDED)
    (packages.root / ".more").write_text("".join(f"{name}\n" for name in RECORDED))
    assert packages.has(RECORDED)
    packages.fetch_more(RECORDED)
