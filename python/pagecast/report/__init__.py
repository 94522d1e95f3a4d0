"""Reports: one HTML file with tables and figures that needs nothing else, and the same tables in a terminal.

A report names its inputs and the command that made it. Writing HTML needs matplotlib and jinja2
(``pagecast[plot]``).
"""

from pagecast.report.document import Figure, Report, Section, Table
from pagecast.report.html import write
from pagecast.report.terminal import print_table

__all__ = ["Figure", "Report", "Section", "Table", "print_table", "write"]
