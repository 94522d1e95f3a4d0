"""The knobs of disks: those that the kernel and the model take."""

import pytest

import pagecast as pc
from tests.unit.advice.conftest import BESIDE, knobs_of, omissions_of


def knobs(folder, disk):
    """Give the knobs of the database beside the backup, with other keys of the disk."""
    path = folder / "scenario.toml"
    path.write_text(BESIDE.replace('kind = "sata-ssd"\n', disk))
    return {knob.name: knob for knob in knobs_of(pc.Scenario.load(path), path.read_bytes())}, path


@pytest.mark.parametrize("key", ["read_at = { '4' = '900 MB/s' }", "burst = '2 s'", "unevenness = 0.1"])
def test_io_max_is_offered_where_a_disk_serves_requests(tmp_path, key):
    name = "io.max wbps of backup on ssd"
    plain, path = knobs(tmp_path, "kind = 'sata-ssd'\n")
    assert pc.Scenario.load(path, set=plain[name].settings[0].overrides)
    found, path = knobs(tmp_path, f"kind = 'sata-ssd'\n{key}\n")
    assert not [name for name in found if name.startswith("io.max")]
    with pytest.raises(pc.ScenarioError, match="does not serve requests one by one"):
        pc.Scenario.load(path, set=plain[name].settings[0].overrides)


@pytest.mark.parametrize(
    ("disk", "omitted"),
    [
        ("kind = 'sata-ssd'\n", []),
        ("service_less", ["scheduler, ionice and io.max of ssd (no `service`)"]),
        ("unevenness = 0.1\n", ["io.max of ssd (requests are not served one by one)"]),
    ],
)
def test_what_a_disk_lacks_is_told(tmp_path, disk, omitted):
    path = tmp_path / "scenario.toml"
    text = BESIDE.replace('kind = "sata-ssd"\n', disk.replace("service_less", ""))
    path.write_text(text.replace('service = "60 us"\n', "") if disk == "service_less" else text)
    scenario = pc.Scenario.load(path)
    assert omissions_of(scenario, path.read_bytes()) == omitted


def test_an_old_kernel_has_no_other_scheduler(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(BESIDE)
    scenario = pc.Scenario.load(path, set=["machine.kernel.version=4.18"])
    assert omissions_of(scenario, path.read_bytes()) == ["scheduler of ssd (Linux before 5.0)"]


@pytest.mark.parametrize(
    ("disk", "most"),
    [
        ("kind = 'sata-ssd'\n", 256),
        ("kind = 'nvme'\n", 511),
        ("nr_requests = 64\nhw_queue_depth = 64\n", 32),
        ("nr_requests = 64\nhw_queue_depth = 512\n", 256),
        ("nr_requests = 128\nhw_queue_depth = 64\nscheduler = 'bfq'\n", 512),
        ("nr_requests = 1023\nscheduler = 'kyber'\n", 511),
    ],
)
def test_requests_are_no_more_than_tags_or_what_a_scheduler_takes(tmp_path, disk, most):
    found, _ = knobs(tmp_path, disk)
    counts = [int(setting.text.split()[-1]) for setting in found["ssd nr_requests"].settings]
    assert max(counts) == most
