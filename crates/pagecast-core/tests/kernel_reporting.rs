//! Free page reporting: memory that the host of a virtual machine has taken back costs more when it is touched again.

use crate::common::{Case, linux};

const WRITE: &str = "write = '/data/g', size = '1 GB', call = '1 MB'";
const UNLINK: &str = "unlink = '/data/g'";
/// What 1 GB costs more at 1 ns for each byte.
const MORE_S: f64 = 1.0;

/// One process on a machine of 10 GB that gives its free memory to its host.
fn guest(operations: &[&str]) -> Case {
    linux().set("machine.memory.cost.page_reported=4096 ns").process("p", operations)
}

/// What the last operation takes beyond what it takes on a machine of its own.
fn beyond(operations: &[&str]) -> f64 {
    let last = operations.len() as u32 - 1;
    let alone = linux().process("p", operations).run("kernel").seconds("p", last);
    guest(operations).run("kernel").seconds("p", last) - alone
}

fn near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() < 0.01
}

#[test]
fn memory_that_the_host_took_back_costs_more() {
    assert!(near(beyond(&[WRITE]), MORE_S));
    assert!(near(beyond(&["alloc = '1 GB'"]), MORE_S));
    let parts = guest(&[WRITE]).run("kernel").parts("p", 0);
    assert_eq!(parts.iter().map(|(part, _)| *part).collect::<Vec<_>>(), ["cpu_copy", "page_allocation"]);
    assert!(parts.iter().all(|(_, seconds)| near(*seconds, 1.0)), "{parts:?}");
}

#[test]
fn memory_that_takes_no_time_otherwise_costs_more_from_where_the_host_has_it() {
    let process = guest(&["alloc = '1 GB'"]).set("machine.memory.cost.fault=0 ns");
    let seconds = |backed: &str| process.clone().option("backed", backed).run("kernel").seconds("p", 0);
    assert!(near(seconds("0 B"), 1.0) && near(seconds("400 MB"), 0.6) && near(seconds("1 GB"), 0.0));
}

#[test]
fn memory_that_was_just_freed_is_taken_first() {
    assert!(near(beyond(&[WRITE, UNLINK, WRITE]), 0.0));
    let more = "write = '/data/g', size = '1.2 GB', call = '1 MB'";
    assert!(near(beyond(&[WRITE, UNLINK, more]), 0.2), "and then what it took back");
}

#[test]
fn what_is_free_for_long_is_taken_back() {
    // A sixteenth of 10 GB is 0.63 GB: after 2 s, and the rest after 4 s.
    assert!(near(beyond(&[WRITE, UNLINK, "sleep = '0.9 s'", WRITE]), 0.0));
    assert!(near(beyond(&[WRITE, UNLINK, "sleep = '5 s'", WRITE]), MORE_S));
    let later = beyond(&[WRITE, UNLINK, "sleep = '2.1 s'", WRITE]);
    assert!((0.5..0.8).contains(&later), "{later}");
}

#[test]
fn what_reclaim_frees_is_used_at_once() {
    let (small, read) = ("machine.memory.size=2 GB", "read = '/data/g'");
    let of = |case: Case| case.set(small).file("/data/g", "6 GB").run("kernel").parts("p", 0);
    let allocation = |parts: Vec<(&str, f64)>| {
        parts.iter().find(|(part, _)| *part == "page_allocation").map_or(0.0, |(_, seconds)| *seconds)
    };
    let (alone, guest) = (of(linux().process("p", &[read])), of(guest(&[read])));
    assert_eq!(allocation(alone), 0.0);
    assert!(allocation(guest) <= 2.0, "of the 6 GB at most as much as there is memory");
}

#[test]
fn a_scenario_says_what_the_host_has_not_taken_back() {
    let time = |backed: &str| guest(&[WRITE]).option("backed", backed).run("kernel").seconds("p", 0);
    assert!(near(time("2 GB"), 1.0) && near(time("400 MB"), 1.6) && near(time("0 B"), 2.0));
}

#[test]
fn blocks_too_small_to_be_reported_stay_for_folios_that_they_have_room_for() {
    // 300 MB in blocks of 4 KiB, and as much in those of 256 KiB.
    let blocks = "73242 0 0 0 0 0 1144 0 0 1000";
    let time = |write: &str| guest(&[write]).option("free_blocks", blocks).run("kernel").seconds("p", 0);
    let large = "machine.kernel.version=\"6.18\"";
    let time_of_large =
        |write: &str| guest(&[write]).set(large).option("free_blocks", blocks).run("kernel").seconds("p", 0);
    assert!(near(time(WRITE), 1.4), "pages one by one");
    assert!(near(time_of_large("write = '/data/g', size = '1 GB', call = '64 KiB'"), 1.7));
    assert!(near(time_of_large("write = '/data/g', size = '1 GB', call = '1 MiB'"), 2.0));
}
