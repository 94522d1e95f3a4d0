"""``pagecast studio``: a page with sliders for a scenario."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options

__all__ = ["command"]


@click.command("studio")
@click.argument("scenario", type=options.FileName())
@options.overrides
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of the loopback address; by default a free one.",
)
@click.option(
    "--seed", type=options.Seed(), metavar="N", default=0, show_default=True, help="Of each forecast."
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def command(scenario: Path, overrides: tuple[str, ...], port: int, seed: int, no_browser: bool) -> None:
    """Show SCENARIO in a browser: sliders for the machine and the kernel, and the forecast of each setting.

    The page is served on the loopback address until Ctrl-C; its address has a secret. Nothing outside of the
    folder of SCENARIO is read, and nothing is written or set. A change of the file shows at once.

    \b
    Examples:
      pagecast studio scenario.toml
      pagecast studio scenario.toml --set machine.memory.size=64GB
      pagecast studio scenario.toml --no-browser --port 8000
    """
    from pagecast.extras import require

    for package in ("starlette", "uvicorn"):
        require(package, "studio", "the studio")
    from pagecast.studio.serving import serve

    serve(
        scenario,
        overrides=overrides,
        port=port,
        seed=seed,
        has_browser=not no_browser,
        say=lambda address: click.echo(f"The studio of {shown(scenario)} is at {address}\nCtrl-C ends it."),
    )
