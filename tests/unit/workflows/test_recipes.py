"""Instances that the recipes of WfCommons make, each once; without the package they are skipped."""

import random
from pathlib import Path

import numpy as np
import pytest

from tests.unit.workflows.laws import CLUSTER, MACHINE, ran

recipes = pytest.importorskip("wfcommons.wfchef.recipes")
wfgen = pytest.importorskip("wfcommons.wfgen")

NAMES = sorted(name for name in dir(recipes) if name.endswith("Recipe"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_keeps_the_laws(name: str, tmp_path: Path) -> None:
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 (the recipes draw from it)
    path = tmp_path / "instance.json"
    recipe = getattr(recipes, name).from_num_tasks(200)
    wfgen.WorkflowGenerator(recipe).build_workflow().write_json(path)
    for machine in (MACHINE, CLUSTER):
        for task_order in ("fifo", "depth"):
            ran(path, tmp_path, machine, task_order=task_order).check()
