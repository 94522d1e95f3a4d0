//! Checks that requests, schedulers, journals and write-back below a policy are the same inside another simulator.

use super::patterns::assert_same_latencies;

fn machine(disk: &str, mount: &str) -> String {
    format!(
        r#"
        [machine]
        cores = 8
        memory = {{ size = "2 GB", read = "6 GB/s", write = "4 GB/s" }}
        disk.ssd = {{ size = "100 GB", read = "500 MB/s", write = "400 MB/s", {disk} }}
        mount."/data" = {{ disk = "ssd", {mount} }}
        [[file]]
        path = "/data/table"
        size = "1 GB"
        [[file]]
        path = "/data/backup"
        size = "2 GB"
        "#
    )
}

const DATABASE_AND_BACKUP: &str = r#"
    [[process]]
    name = "database"
    do = [
      { open = "/data/table", flags = ["O_DIRECT"] },
      { read = "/data/table", call = "8 KiB", for = "0.3 s", pattern = { random = "uniform", writes = "20 %", depth = 4 }, by = "libaio" },
    ]
    [[process]]
    name = "backup"
    ionice = "idle"
    start = "0.1 s"
    do = [
      { open = "/data/backup", flags = ["O_DIRECT"] },
      { read = "/data/backup", size = "32 MiB", call = "1 MiB" },
    ]
"#;

#[test]
fn a_disk_serves_requests_by_its_scheduler() {
    for scheduler in ["none", "mq-deadline", "kyber", "bfq"] {
        let disk = format!("service = '300 us', hw_queue_depth = 2, scheduler = '{scheduler}'");
        let text = machine(&disk, "type = 'ext4'") + DATABASE_AND_BACKUP;
        assert_same_latencies(&text, "kernel", 1e-4);
    }
}

#[test]
fn a_disk_seeks() {
    let text = machine("kind = 'hdd'", "type = 'ext4'") + DATABASE_AND_BACKUP;
    assert_same_latencies(&text, "kernel", 1e-4);
}

#[test]
fn a_journal_commits_when_it_does_in_a_scenario() {
    let appends = r#"
        [[process]]
        name = "log{n}"
        count = 3
        do = [ { repeat = 50, do = [ { write = "/data/log{n}", append = true, size = "4 KiB" }, { fsync = "/data/log{n}" } ] } ]
        [[process]]
        name = "copy"
        do = [ { write = "/data/copy", size = "200 MB", call = "1 MiB" } ]
    "#;
    for (disk, mount) in [
        ("flush = '2 ms'", "type = 'ext4', journal = { size = '64 MiB' }"),
        ("kind = 'sata-ssd'", "type = 'ext4', journal = { size = '64 MiB', data = 'journal' }"),
        ("kind = 'nvme'", "type = 'ext3', journal = { size = '64 MiB' }"),
        ("flush = '1 ms', kind = 'nvme'", "type = 'xfs'"),
    ] {
        assert_same_latencies(&(machine(disk, mount) + appends), "kernel", 1e-3);
    }
}

#[test]
fn write_back_holds_readers_up_as_in_a_scenario() {
    let text = machine("kind = 'sata-ssd'", "type = 'ext4'")
        + r#"
        [[process]]
        name = "writer"
        do = [ { write = "/data/big", size = "2 GB", call = "1 MiB" } ]
        [[process]]
        name = "reader"
        do = [ { read = "/data/table", size = "8 MiB", call = "16 KiB", pattern = { random = "uniform" } } ]
        "#;
    assert_same_latencies(&text, "kernel", 1e-3);
}
