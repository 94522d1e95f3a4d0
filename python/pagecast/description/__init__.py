"""What the requests of a recording or of programs are like, and recordings that are like them."""

from pagecast.description.describing import TABLES, Description, describe
from pagecast.description.generating import generate

__all__ = ["TABLES", "Description", "describe", "generate"]
