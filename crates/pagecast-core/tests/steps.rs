//! The two drivers: events, and steps of a millisecond without counters and heaps, agree within 1 %.
//!
//! A transfer ends up to a step late, so all transfers here last 200 ms or longer. Where fsync comes beside a flusher both submit
//! request by request, and requests are as long as disks take.

use crate::common::{Case, HOSTS, case, linux, on};

fn agree(case: &Case) {
    for model in pagecast_core::MODELS {
        let (events, steps) = (case.run(model), case.run_by_steps(model));
        assert_eq!(events.operations.end.len(), steps.operations.end.len(), "{model}");
        for row in 0..events.operations.end.len() {
            let (process, index) =
                (&*events.processes[events.operations.process[row] as usize], events.operations.index[row]);
            let (fast, slow) = (events.end(process, index), steps.end(process, index));
            assert!(
                (fast - slow).abs() <= 0.01 * fast,
                "{model}: {process} {index} ends at {fast} s and {slow} s"
            );
            let (fast, slow) = (events.sources(process, index), steps.sources(process, index));
            assert_eq!(fast, slow, "{model}: bytes of {process} {index}");
        }
    }
}

#[test]
fn on_operations_that_share_one_disk() {
    agree(
        &case()
            .set("machine.disk.ssd.write=60 MB/s")
            .set("model.wrench.chunk=250 MB")
            .file("/data/f", "1 GB")
            .file("/data/g", "500 MB")
            .process("a", &["read = '/data/f'", "compute = '2 s'", "write = '/data/h', size = '500 MB'"])
            .process("b", &["sleep = '7 s'", "read = '/data/g'", "read = '/data/f'"])
            .process("c", &["compute = '3 s'", "write = '/data/i', size = '500 MB'"])
            .process("d", &["compute = '5 s'"]),
    );
}

#[test]
fn on_shares_that_change_with_the_number_of_streams() {
    agree(
        &case()
            .set("machine.disk.ssd.sharing=time")
            .set(r#"machine.disk.ssd.read_at={ "1" = "80 MB/s", "3" = "140 MB/s" }"#)
            .set("machine.memory.per_thread=700 MB/s")
            .set("model.wrench.chunk=250 MB")
            .file("/data/f", "250 MB")
            .file("/data/g", "1 GB")
            .file("/data/h", "500 MB")
            .process("a", &["read = '/data/f'", "read = '/data/f'"])
            .process("b", &["sleep = '2 s'", "read = '/data/g'"])
            .process("c", &["sleep = '3 s'", "read = '/data/h'", "write = '/data/i', size = '250 MB'"]),
    );
}

#[test]
fn on_writes_that_are_throttled_and_flushed() {
    agree(
        &case()
            .set("machine.memory.size=3 GB")
            .set("machine.disk.ssd.max_sectors_kb=4096")
            .set("model.wrench.chunk=250 MB")
            .set("model.wrench.expiry=5 s")
            .process("a", &["write = '/data/f', size = '1500 MB'", "sleep = '5 s'"])
            .process("b", &["sleep = '8 s'", "write = '/data/g', size = '500 MB'", "fsync = '/data/g'"]),
    );
}

#[test]
fn on_two_nodes_that_are_short_of_memory() {
    agree(
        &linux()
            .set("machine.memory.nodes=2")
            .set("machine.memory.cost.page_remote=1 us")
            .set("machine.memory.cost.page_insert=300 ns")
            .set("machine.memory.cost.fault=250 ns")
            .set("model.wrench.chunk=250 MB")
            .set("machine.disk.ssd.read=20 MB/s")
            .set("machine.disk.ssd.write=20 MB/s")
            .file("/data/f", "1 GB")
            .process("a", &["write = '/data/g', size = '3 GB'", "fsync = '/data/g'", "read = '/data/f'"])
            .process(
                "b",
                &["sleep = '3 s'", "write = '/data/h', size = '2 GB'", "alloc = '4 GB'", "sleep = '100 s'"],
            ),
    );
}

#[test]
fn on_files_of_another_host() {
    // A READ of 1 MiB takes 260 ms.
    agree(
        &on(HOSTS)
            .set("link.lan.latency=5 ms")
            .set("link.lan.rate=4 MB/s")
            .set("model.wrench.chunk=10 MB")
            .file("/remote/f", "20 MB")
            .process(
                "a",
                &["read = '/remote/f'", "write = '/remote/g', size = '20 MB'", "fsync = '/remote/g'"],
            )
            .process("b", &["compute = '7 s'", "read = '/remote/f'"]),
    );
}

#[test]
fn on_an_uneven_disk() {
    agree(
        &case()
            .set("machine.disk.ssd.unevenness=0.3")
            .seed(5)
            .file("/data/f", "200 MB")
            .file("/data/g", "200 MB")
            .process("a", &["read = '/data/f'"])
            .process("b", &["read = '/data/g'"]),
    );
}

#[test]
fn on_a_disk_that_takes_writes_faster_while_its_cache_has_room() {
    for sharing in ["total", "separate", "time"] {
        agree(
            &case()
                .set("machine.disk.ssd.write=40 MB/s")
                .set("machine.disk.ssd.max_sectors_kb=4096")
                .set("machine.disk.ssd.write_cache={ size = '400 MB', rate = '100 MB/s' }")
                .set(&format!("machine.disk.ssd.sharing={sharing}"))
                .set("model.wrench.chunk=250 MB")
                .file("/data/f", "1 GB")
                .process("a", &["write = '/data/g', size = '1 GB'", "fsync = '/data/g'"])
                .process("b", &["sleep = '3 s'", "read = '/data/f'"])
                .process("c", &["sleep = '20 s'", "write = '/data/h', size = '600 MB'", "fsync = '/data/h'"]),
        );
    }
}

#[test]
fn on_mappings() {
    agree(
        &linux()
            .set("machine.disk.ssd.max_sectors_kb=4096")
            .set("model.wrench.chunk=250 MB")
            .file("/data/f", "1 GB")
            .file("/data/g", "0 B")
            .process("a", &["mmap_read = '/data/f'", "mmap_write = '/data/f'", "msync = '/data/f'"])
            .process(
                "b",
                &["sleep = '11 s'", "truncate = '/data/g', size = '3 GB'", "mmap_write = '/data/g'"],
            ),
    );
}
