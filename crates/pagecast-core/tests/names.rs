//! Names and descriptors: several of one file, and files that live on without a name.

use crate::common::{Case, GB, MB, Run, case};

/// One process, these operations, on a cold file "/data/f" of 1 GB. Reading all of it takes 10 s, a second time 1 s.
fn after(operations: &[&str]) -> Case {
    case().file("/data/f", "1 GB").process("p", operations)
}

fn run(operations: &[&str]) -> Run {
    after(operations).run("endless-cache")
}

fn error(operations: &[&str]) -> String {
    after(operations).error("endless-cache")
}

const OPEN: &str = "open = '/data/f', fd = 3";
const UNLINK: &str = "unlink = '/data/f'";
const READ: &str = "read = '/data/f'";

#[test]
fn a_read_through_a_descriptor_goes_on_where_the_last_one_ended_and_stops_at_the_end() {
    let part = "read = '/data/f', fd = 3, size = '400 MB'";
    let run = run(&[OPEN, part, part, part, part]);
    assert_eq!(run.operations.offset[1..], [0, 400 * MB, 800 * MB, GB]);
    assert_eq!(run.operations.bytes[1..], [400 * MB, 400 * MB, 200 * MB, 0]);
}

#[test]
fn a_read_at_an_offset_leaves_the_position() {
    let at = "read = '/data/f', fd = 3, offset = '700 MB', size = '100 MB'";
    let next = "read = '/data/f', fd = 3, size = '100 MB'";
    assert_eq!(run(&[OPEN, next, at, next]).operations.offset[1..], [0, 700 * MB, 100 * MB]);
}

#[test]
fn two_descriptors_of_a_file_have_two_positions_and_a_duplicate_shares_one() {
    let read = |fd: u32| format!("read = '/data/f', fd = {fd}, size = '100 MB'");
    let (first, second, third) = (read(3), read(4), read(5));
    let other = "open = '/data/f', fd = 4";
    let twin = "dup = '/data/f', fd = 3, to_fd = 5";
    let run = run(&[OPEN, other, twin, &first, &second, &third, &first]);
    assert_eq!(run.operations.offset[3..], [0, 0, 100 * MB, 200 * MB]);
}

#[test]
fn a_descriptor_that_appends_writes_at_the_end() {
    let open = "open = '/data/f', fd = 3, flags = ['O_APPEND']";
    let write = "write = '/data/f', fd = 3, size = '100 MB'";
    let run = run(&[open, write, write]);
    assert_eq!(run.operations.offset[1..], [GB, GB + 100 * MB]);
}

#[test]
fn lseek_sets_the_position() {
    let seek = "lseek = '/data/f', fd = 3, offset = '900 MB'";
    let run = run(&[OPEN, seek, "read = '/data/f', fd = 3"]);
    assert_eq!((run.operations.offset[2], run.operations.bytes[2]), (900 * MB, 100 * MB));
}

#[test]
fn an_unlinked_file_lives_until_its_last_descriptor_is_closed() {
    let through = "read = '/data/f', fd = 3, offset = '0 B'";
    let run = run(&[OPEN, through, UNLINK, through, "close = '/data/f', fd = 3"]);
    assert_eq!(run.all_seconds("p"), [0.0, 10.0, 0.0, 1.0, 0.0]);
    assert_eq!(run.memory_at(10.5).used().0, GB, "its pages are there");
    assert_eq!(run.timeline.levels.last().map(|levels| levels.used().0), Some(0), "and go with it");
}

#[test]
fn the_exit_of_a_process_closes_its_descriptors() {
    let case = after(&[OPEN, READ, UNLINK, "sleep = '1 s'"]);
    let run = case.process_with("later", "after = ['p']", &["sleep = '1 s'"]).run("endless-cache");
    assert_eq!((run.memory_at(10.5).used().0, run.memory_at(11.5).used().0), (GB, 0));
}

#[test]
fn a_new_file_of_an_unlinked_one_s_name_is_another_file() {
    let new = "write = '/data/f', size = '100 MB'";
    let old = "read = '/data/f', fd = 3";
    let run = run(&[OPEN, UNLINK, new, old, READ]);
    assert_eq!((run.operations.bytes[3], run.operations.bytes[4]), (GB, 100 * MB));
}

#[test]
fn a_renamed_file_keeps_its_pages() {
    let run = run(&[READ, "rename = '/data/f', to = '/data/g'", "read = '/data/g'"]);
    assert_eq!(run.all_seconds("p"), [10.0, 0.0, 1.0]);
    assert_eq!(run.file("/data/g"), (GB, GB, 0));
    assert!(error(&["rename = '/data/f', to = '/data/g'", READ]).contains("there is no such file"));
}

#[test]
fn the_file_that_had_the_new_name_goes() {
    let write = "write = '/data/g', size = '100 MB'";
    let run = run(&[write, "rename = '/data/g', to = '/data/f'", READ]);
    assert_eq!(run.operations.bytes[2], 100 * MB);
    assert_eq!(run.file("/data/f"), (100 * MB, 100 * MB, 0));
}

#[test]
fn a_renamed_directory_takes_its_files_along() {
    let write = "write = '/data/a/b/c', size = '100 MB'";
    let run = run(&[write, "rename = '/data/a', to = '/data/x'", "read = '/data/x/b/c'"]);
    assert_eq!(run.sources("p", 2), (100 * MB, 0));
}

#[test]
fn a_file_lives_as_long_as_one_of_its_names() {
    let run = run(&[READ, "link = '/data/f', to = '/data/g'", UNLINK, "read = '/data/g'"]);
    assert_eq!(run.all_seconds("p"), [10.0, 0.0, 0.0, 1.0]);
}

#[test]
fn processes_of_one_table_share_descriptors() {
    use pagecast_core::Settings;
    use pagecast_core::simulate;

    let scenario = after(&[OPEN, "read = '/data/f', fd = 3, size = '400 MB'"]).process_with(
        "thread",
        "after = ['p']",
        &["read = '/data/f', fd = 3"],
    );
    let mut scenario = scenario.scenario().unwrap();
    let refused = simulate(&scenario, "no-cache", Settings::default()).unwrap_err().to_string();
    assert!(refused.contains("through descriptor 3 at 4.000 s, which is not open"), "{refused}");
    scenario.processes.iter_mut().for_each(|process| process.descriptors = Some(7));
    let result = simulate(&scenario, "no-cache", Settings::default()).unwrap();
    assert_eq!((result.operations.offset[2], result.operations.bytes[2]), (400 * MB, 600 * MB));
}

#[test]
fn room_can_be_kept_beyond_the_end_of_a_file() {
    let keep = "fallocate = '/data/g', size = '60 GB', mode = 'keep_size'";
    let make = "open = '/data/g', create = true";
    let run = run(&[make, keep, "write = '/data/g', size = '10 MB', append = true"]);
    assert_eq!(run.operations.offset[2], 0, "it does not make the file longer");
    assert!(error(&[make, keep, "write = '/data/h', size = '40 GB'"]).contains("`ssd`"));
    let longer = "fallocate = '/data/g', size = '1 GB'";
    assert_eq!(run_size(&[make, longer]), GB);
}

fn run_size(operations: &[&str]) -> u64 {
    run(operations).file("/data/g").0
}

#[test]
fn what_cannot_be_is_refused() {
    let closed = error(&["read = '/data/f', fd = 3"]);
    assert!(closed.ends_with("which is not open; open the file with `fd = 3` before"), "{closed}");
    let taken = error(&["write = '/data/g', size = '1 B'", "link = '/data/f', to = '/data/g'"]);
    assert!(taken.contains("which exists; unlink it before"), "{taken}");
    let two = case().keys("[machine.mount.\"/other\"]\ndisk = 'ssd'").file("/data/f", "1 GB");
    let far = two.process("p", &["rename = '/data/f', to = '/other/f'"]).error("no-cache");
    assert!(far.contains("which is on another mount"), "{far}");
    let nothing = error(&["rename = '/data/nothing', to = '/data/g'"]);
    assert!(nothing.contains("does a rename of /data/nothing"), "{nothing}");
}
