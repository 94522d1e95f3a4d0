"""The pages of the nets that come with pagecast, as pictures for `figures.py`."""

import re
from typing import Final

from pagecast.petri import load
from pagecast.petri.nets import path_of

SHOWN: Final = {
    "ext3-read": None,
    "ext3-write": None,
    "pvfs-read": (
        "Client",
        "Client program",
        "Striping",
        "Client stack",
        "Device",
        "Network",
        "Server",
        "Receive",
        "Chunks",
        "Release",
        "Segmentation",
    ),
    "pvfs-write": ("Client", "Striping", "Server", "Receive", "Jobs"),
}
"""The pages of each net that are shown; None for all of them."""


def figure_name(net: str, page: str) -> str:
    """Give the name of the figure of a page."""
    words = re.sub(r"\W+", "_", page.lower()).strip("_")
    top = net.replace("-", "_")
    return top if words == top else f"{top}_{words}"


def net_pictures() -> dict[str, str]:
    """Give the SVG of each page, by the name of its figure."""
    return {
        figure_name(name, page): net.draw(page)
        for name, shown in SHOWN.items()
        for net in (load(path_of(name)),)
        for page in shown or [of["name"] for of in net.pages()]
    }
