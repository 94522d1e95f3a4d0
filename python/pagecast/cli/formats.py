"""``pagecast formats``: the formats of workloads that can be simulated."""

import json

import click

from pagecast._core import workload_formats
from pagecast.cli import options

__all__ = ["command"]


@click.command("formats")
@options.as_json
def command(as_json: bool) -> None:
    """List the formats of workloads that `simulate`, `run` and `validate` read beside scenarios.

    A file is told by its content, then by the end of its name; --format names one. gzip and zstd are
    unpacked.

    \b
    Examples:
      pagecast formats
      pagecast simulate job.fio --machine machine.toml
      pagecast simulate trace.strace --machine machine.toml --files-in /data
    """
    found = [{"format": name, "what": what, "endings": endings} for name, what, endings in workload_formats()]
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "formats": found}))
        return
    width = max((len(each["format"]) for each in found), default=0)
    for each in found:
        endings = f" ({', '.join(each['endings'])})" if each["endings"] else ""
        click.echo(f"{each['format']:{width}}  {each['what']}{endings}")
