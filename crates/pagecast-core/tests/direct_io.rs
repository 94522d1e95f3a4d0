//! What O_DIRECT asks of offsets and lengths. Source of the rules: `fs/iomap/direct-io.c`, Linux 6.16.

use crate::common::{Case, HOSTS, linux, on};

const OPEN: &str = "open = '/data/g', flags = ['O_DIRECT']";

/// A file of 10,000 bytes on a disk with logical blocks of this size.
fn with_blocks(block: &str, operation: &str) -> Case {
    let case = linux().file("/data/g", "10000 B").process("p", &[OPEN, operation]);
    case.set(&format!("machine.disk.ssd.logical_block_size={block}"))
}

fn works(block: &str, operation: &str) -> bool {
    pagecast_core::MODELS
        .map(|model| with_blocks(block, operation).simulate(model).is_ok())
        .iter()
        .all(|&is| is)
}

/// Refused by every model, in the line of the operation.
fn fails(block: &str, operation: &str) -> bool {
    pagecast_core::MODELS.iter().all(|model| {
        let error = with_blocks(block, operation).error(model);
        error.starts_with("test.toml:22: process `p`")
            && error.contains(&format!("EINVAL; make offset, size and call multiples of {block}"))
    })
}

#[test]
fn every_call_is_whole_blocks_of_the_disk_from_a_block_on() {
    for (operation, of_512, of_4096) in [
        ("write = '/data/g', size = '8 KiB'", true, true),
        ("write = '/data/g', size = '512 B'", true, false),
        ("write = '/data/g', offset = '512 B', size = '4 KiB'", true, false),
        ("write = '/data/g', size = '8 KiB', call = '2 KiB'", true, false),
        ("read = '/data/g', size = '8 KiB', call = '2 KiB'", true, false),
        // The last call is as short as what is left.
        ("write = '/data/g', size = '5 KiB', call = '4 KiB'", true, false),
        ("write = '/data/g', size = '4196 B', call = '4 KiB'", false, false),
        // No call is longer than all that there is to be written.
        ("write = '/data/g', size = '4 KiB', call = '5000 B'", true, true),
        ("write = '/data/g', size = '8 KiB', append = true", false, false),
    ] {
        for (block, is_right) in [("512 B", of_512), ("4096 B", of_4096)] {
            let case = format!("{operation} with {block}");
            let is_told = if is_right { works(block, operation) } else { fails(block, operation) };
            assert!(is_told, "{case}");
        }
    }
}

#[test]
fn a_read_up_to_the_end_asks_for_the_whole_of_the_last_block() {
    for block in ["512 B", "4096 B", "65536 B"] {
        let run = with_blocks(block, "read = '/data/g'").run("kernel");
        assert_eq!((run.operations.bytes[1], run.sources("p", 1)), (10_000, (0, 10_000)), "{block}");
    }
    assert!(works("4096 B", "read = '/data/g', offset = '8 KiB'"));
    assert!(works("4096 B", "read = '/data/g', call = '8 KiB'"));
    assert!(fails("4096 B", "read = '/data/g', call = '10000 B'"));
}

#[test]
fn the_last_call_of_a_read_may_reach_beyond_the_end_and_gets_what_is_there() {
    let bytes = |operation: &str| with_blocks("512 B", operation).run("kernel").operations.bytes[1];
    assert_eq!(bytes("read = '/data/g', size = '10240 B'"), 10_000);
    assert_eq!(bytes("read = '/data/g', size = '12 KiB', call = '4 KiB'"), 10_000);
    assert_eq!(bytes("read = '/data/g', offset = '8 KiB', size = '4 KiB'"), 10_000 - 8192);
    for beyond in ["size = '16 KiB', call = '4 KiB'", "offset = '10240 B', size = '512 B'"] {
        let error = with_blocks("512 B", &format!("read = '/data/g', {beyond}")).error("kernel");
        assert!(error.contains("which has 10 kB"), "{error}");
    }
    // Without O_DIRECT a read ends where its file does.
    let buffered = linux().file("/data/g", "10000 B").process("p", &["read = '/data/g', size = '10240 B'"]);
    assert!(buffered.error("kernel").contains("reads 10.24 kB at offset 0 B"));
}

#[test]
fn another_hosts_file_may_be_written_directly_in_any_bytes() {
    let operations =
        ["open = '/remote/g', create = true, flags = ['O_DIRECT']", "write = '/remote/g', size = '10 B'"];
    let run = on(HOSTS).process("p", &operations).run("kernel");
    assert_eq!(run.operations.bytes[1], 10);
}

#[test]
fn a_loop_may_name_the_file_that_it_makes_durable() {
    let round = "{ write = '/data/f{k}', size = '1 MB' }, { fdatasync = '/data/f{k}' }";
    let run = linux().process("p", &[&format!("repeat = 2, as = 'k', do = [ {round} ]")]).run("kernel");
    assert!(run.seconds("p", 3) > 0.009, "each file is written");
}

#[test]
fn each_place_of_a_call_has_whole_blocks() {
    assert!(works("512 B", "write = '/data/g', size = '8 KiB', call = '4 KiB', vector = 8"));
    assert!(works("512 B", "read = '/data/g', size = '8 KiB', vector = 16"));
    let error = with_blocks("512 B", "write = '/data/g', size = '8 KiB', call = '4 KiB', vector = 16")
        .error("kernel");
    assert!(
        error
            .contains("in calls of 4.1 kB in 16 places at the start, with O_DIRECT, which fails with EINVAL"),
        "{error}"
    );
    assert!(error.contains("make offset, size and call by vector multiples of 512 B"), "{error}");
}
