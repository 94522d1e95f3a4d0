"""Write the reference of the C interface from the comments of its header."""

import re
from pathlib import Path

HEADER = Path(__file__).parents[1] / "crates" / "pagecast-capi" / "include" / "pagecast.h"

ITEM = re.compile(
    r"^/\*\n(?P<text>(?: .*\n|\n)*?) ?\*/\n"
    r"(?P<code>#define .*|typedef (?:.*\{\n(?:.*\n)*?\} \w+;|.*;)|[^\n]*\((?:.|\n)*?\);)",
    re.MULTILINE,
)
"""A comment at the left margin, and the definition below it."""

MEMBER = re.compile(r"^  /\*\n(?P<text>(?:   .*\n)+)   \*/\n  (?P<code>.*?)[,;]$", re.MULTILINE)
"""A comment within an enumeration or a structure, and the constant or field below it."""


def prose(comment: str) -> str:
    """Take the text out of a comment; what the caller guarantees begins with "Safety:"."""
    text = "\n".join(line.strip() for line in comment.strip().splitlines())
    return text.replace("# Safety\n", "Safety: ")


def members(code: str) -> list[tuple[str, str]]:
    """Find the constants of an enumeration, or the fields of a structure, with what each means."""
    return [(hit["code"], " ".join(prose(hit["text"]).split())) for hit in MEMBER.finditer(code)]


def table(code: str) -> str:
    rows = [f"| `{each}` | {meaning} |" for each, meaning in members(code)]
    return "\n".join(["| | |", "|---|---|", *rows]) + "\n" if rows else ""


def reference(header: str) -> str:
    """Write the page of a header.

    Parameters
    ----------
    header : str
        Text of a header that cbindgen has made.

    Returns
    -------
    str
        Markdown: functions, structures, enumerations and constants, each in the order of the header.
    """
    parts: dict[str, list[str]] = {"Functions": [], "Structures": [], "Enumerations": [], "Constants": []}
    for hit in ITEM.finditer(header):
        text, code = prose(hit["text"]), hit["code"]
        if code.startswith("#define"):
            _, name, value = code.split(maxsplit=2)
            parts["Constants"].append(f"### `{name}`\n\n`{value}`. {text}\n")
        elif code.startswith("typedef"):
            name = code.rstrip(";").split()[-1]
            kind = "Enumerations" if code.startswith("typedef enum") else "Structures"
            parts[kind].append(f"### `{name}`\n\n{text}\n\n{table(code)}")
        else:
            name = code.split("(")[0].split()[-1].lstrip("*")
            parts["Functions"].append(f"### `{name}`\n\n```c\n{code}\n```\n\n{text}\n")
    return "\n".join(f"## {title}\n\n" + "\n".join(each) for title, each in parts.items())
