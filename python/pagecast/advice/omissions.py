"""Names the knobs that are not tried because of how a scenario is written, and why."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pagecast.advice.finding import is_form_of, programs_of
from pagecast.advice.knobs import Host, has_schedulers, serves_pages
from pagecast.advice.programs import opens_files

__all__ = ["omissions"]


def omissions(
    hosts: Mapping[str, Host], text: bytes, overrides: Sequence[str], moving: Collection[str]
) -> Iterator[str]:
    """Say what is not tried.

    Parameters
    ----------
    hosts, text, overrides, moving
        As for `pagecast.advice.finding.find_knobs`.

    Yields
    ------
    str
        The knobs, and in brackets the reason.
    """
    disks = [
        (host.knob(disk), host.table["disk"][disk], has_schedulers(host, disk))
        for host in hosts.values()
        for disk in host.disks
    ]
    programs = programs_of(text, overrides, moving)
    others = [name for name in moving if not any(is_form_of(program, name) for program in programs)]
    opening = [str(program["name"]) for program in programs if _opens(program)]
    for what, names, why in (
        (
            "scheduler, ionice and io.max of",
            [name for name, table, _ in disks if "service" not in table],
            "no `service`",
        ),
        (
            "scheduler of",
            [name for name, table, has in disks if "service" in table and not has],
            "Linux before 5.0",
        ),
        (
            "io.max of",
            [name for name, table, _ in disks if "service" in table and not serves_pages(table)],
            "requests are not served one by one",
        ),
        (
            "cgroup, ionice, O_DIRECT, RWF_DONTCACHE and fadvise of",
            others,
            "no program of the scenario, or changed by --set",
        ),
        ("O_DIRECT, RWF_DONTCACHE and fadvise of", opening, "opens files itself"),
    ):
        if names:
            yield f"{what} {', '.join(names)} ({why})"


def _opens(program: Mapping[str, Any]) -> bool:
    return isinstance(program["do"], list) and opens_files(program["do"])
