"""A report as one HTML file, readable on light and dark screens and on paper."""

from pathlib import Path

from pagecast.report.document import Report

__all__ = ["render", "write"]


def render(report: Report) -> str:
    """Give the text of the HTML file; needs jinja2."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_with_percents_kept,
    )
    return environment.get_template("report.html.j2").render(report=report)


def _with_percents_kept(value: object) -> object:
    """Keep a line from ending between a number and its percent sign."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if isinstance(value, str) else value


def write(report: Report, path: Path) -> None:
    """Write a report; an existing file is replaced."""
    path.write_text(render(report), encoding="utf-8")
