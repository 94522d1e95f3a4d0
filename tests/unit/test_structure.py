"""Imports of the package point one way: no circle between folders, none of more than three files.

Counted are all imports: at the top of a file, inside functions, and those for types alone.
"""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import pagecast

MOST_FILES = 3
"""Of a circle."""

LAYERS = (
    ("cli",),
    ("studies", "validation", "outputs", "studio"),
    ("description",),
    ("comparison", "advice"),
    ("report", "benchmark", "grid", "sweeps", "explanation", "uncertainty"),
    ("models",),
    ("plot", "calibration", "cache", "simpy", "petri", "measures"),
)
"""The folders of the package, as in CONTRIBUTING.md; one may import those of the lines below its own."""


def modules(package):
    """Give the files of a package by the names of their modules."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(files):
    """Give the modules of a package that each of its files imports, wherever in the file."""

    def imported(module, path):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module}: a relative import"
                for each in node.names:
                    name = f"{node.module}.{each.name}"
                    # The compiled part is no file of Python.
                    yield name if name in files or name == "pagecast._core" else node.module

    return {module: {*imported(module, path)} & {*files} - {module} for module, path in files.items()}


def circles(edges):
    """Give the strongly connected components of several nodes (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


def between_children(edges, folder):
    """Give what imports what among the files and folders right in a folder; each stands for all in it."""
    depth = folder.count(".") + 2
    found = defaultdict(set)
    for module, names in edges.items():
        if module.startswith(f"{folder}."):
            child = ".".join(module.split(".")[:depth])
            others = {".".join(name.split(".")[:depth]) for name in names if name.startswith(f"{folder}.")}
            found[child] |= others - {child}
    return found


FILES = modules(Path(pagecast.__file__).parent)
IMPORTS = imports(FILES)
FOLDERS = [module for module, path in FILES.items() if path.name == "__init__.py"]


def test_no_circle_of_more_than_three_files():
    assert [circle for circle in circles(IMPORTS) if len(circle) > MOST_FILES] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_circle_has_a_folder_in_it(folder):
    found = circles(between_children(IMPORTS, folder))
    assert [circle for circle in found if {*circle} & {*FOLDERS}] == []


def test_folders_import_what_is_below_them_only():
    places = {f"pagecast.{name}": place for place, names in enumerate(LAYERS) for name in names}
    edges = between_children(IMPORTS, "pagecast")
    assert {*places} == {name for name in edges if name in FOLDERS}
    for module, names in edges.items():
        if module != "pagecast.__main__":
            # What is right in the package is below all its folders.
            place = places.get(module, len(LAYERS))
            assert [name for name in names if places.get(name, len(LAYERS) + 1) <= place] == [], module


def test_a_circle_is_seen_wherever_it_is_imported(tmp_path):
    texts = {
        "a": "import p.b",
        "b": "def f():\n    from p import c",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.d.e import x",
        "d/__init__": "",
        "d/e": "from p.a import y",
    }
    for name, text in texts.items():
        path = tmp_path / "p" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    edges = imports(modules(tmp_path / "p"))
    assert circles(edges) == [["p.a", "p.b", "p.c", "p.d.e"]]
    assert circles(between_children(edges, "p")) == [["p.a", "p.b", "p.c", "p.d"]]
