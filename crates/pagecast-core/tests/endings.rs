//! Every run ends after steps in proportion to what happens in it, or is refused with a reason, and can be stopped at any step.
//!
//! How much work a run was is known from how often it asked whether to go on: about once in a millisecond.

use std::cell::Cell;
use std::rc::Rc;

use insta::assert_snapshot;
use pagecast_core::error::SimulationError;
use pagecast_core::result::SimulationResult;
use pagecast_core::{Settings, simulate};

use crate::common::{Case, MACHINE, MB, case, linux, on};

/// Simulates, but asks no more often than so; also tells how often that was.
fn ends_within(most: u32, case: &Case, model: &str) -> (Result<SimulationResult, SimulationError>, u32) {
    let asked = Rc::new(Cell::new(0));
    let count = asked.clone();
    let stops = move |_| {
        count.set(count.get() + 1);
        count.get() > most
    };
    let scenario = case.scenario().expect("it is right");
    let settings = Settings { interrupt: Some(Box::new(stops)), ..Settings::default() };
    (simulate(&scenario, model, settings), asked.get())
}

#[track_caller]
fn assert_ends(case: &Case, model: &str) -> SimulationResult {
    let (result, asked) = ends_within(100, case, model);
    result.unwrap_or_else(|error| panic!("{error} after it has asked {asked} times"))
}

/// Somebody wrote a file twice, to a disk that wants stable pages and is about as fast as the copy. The writer followed the device two
/// bytes at a time, for ever, and cut the cache into as many pieces.
#[test]
fn a_writer_that_is_as_fast_as_a_disk_with_stable_pages_waits_for_whole_pages() {
    for rate in ["100 MB/s", "1 GB/s", "2 GB/s", "20 GB/s"] {
        let operations = [
            "compute = '4 s'",
            "write = '/data/x', size = '100 MB'",
            "write = '/data/x', size = '100 MB', call = '4 KiB'",
            "write = '/data/x', offset = '1234567 B', size = '50 MB', call = '777 B'",
            "fsync = '/data/x'",
        ];
        let case = linux().process("p", &operations).set("machine.disk.ssd.stable_writes=true");
        let case = case.set("machine.memory.size=1 GB").set(&format!("machine.disk.ssd.write={rate}"));
        assert_ends(&case.set("machine.memory.write=4 GB/s"), "kernel");
    }
}

/// Two programs read one file from a fast disk. The second was faster, as the pages were there already, and where a byte comes in less
/// than a nanosecond it went on three bytes at a time, for minutes. One that was as fast went on by as many bytes as lay between them.
#[test]
fn a_reader_close_behind_another_one_goes_on_by_more_than_a_few_bytes() {
    for start in ["0 s", "3 ns", "15663635 ns"] {
        for rate in ["1.2 GB/s", "2 GB/s", "20 GB/s"] {
            for copy in ["1.5 GB/s", "3 GB/s"] {
                let read = ["read = '/data/f'"];
                let case = linux().file("/data/f", "300 MB").process("p", &read);
                let case = case.process_with("q", &format!("start = '{start}'"), &read);
                let case =
                    case.set(&format!("machine.disk.ssd.read={rate}")).set("machine.memory.read=100 GB/s");
                assert_ends(&case.set(&format!("machine.memory.cost.copy_read={copy}")), "kernel");
            }
        }
    }
}

/// With 1 MB of memory nothing came to an end, and Ctrl-C was not heard: in a millisecond, the shortest time between two looks, more was
/// copied than there was memory, and all of it looked for a page that could leave, 64 bytes at a time.
#[test]
fn a_copy_that_could_fill_the_memory_in_a_millisecond_is_looked_at_more_often() {
    let operations = [
        "write = '/data/y', size = '512 B'",
        "compute = '20 s'",
        "read = '/data/y'",
        "write = '/data/x', size = '5 MB'",
        "fsync = '/data/x'",
    ];
    for size in ["256 KiB", "1 MB", "2 MB", "64 MB"] {
        for rate in ["5 GB/s", "1000 TB/s"] {
            let case = linux().process("p", &operations).set(&format!("machine.memory.size={size}"));
            let case = case.set(&format!("machine.memory.write={rate}"));
            assert_ends(&case.set("machine.memory.cost={}"), "kernel");
        }
    }
}

/// `vm.dirty_writeback_centisecs = 0` switches the periodic flush off. Under `wrench` it ran all the time instead, in no time.
#[test]
fn a_period_of_nothing_is_no_periodic_flush() {
    let operations = ["write = '/data/x', size = '1 GB'", "sleep = '100 s'"];
    let case = case().process("p", &operations);
    let dirty_mb = |case: &Case| {
        assert_ends(case, "wrench");
        case.run("wrench").memory_at(100.0).dirty.0 / MB
    };
    assert_eq!(dirty_mb(&case), 0);
    assert_eq!(dirty_mb(&case.set("machine.vm.dirty_writeback_centisecs=0")), 1000);
}

/// Nobody is woken where there is nothing to do: the periodic flush of `wrench` looked a hundred times a second through years of sleep.
#[test]
fn a_century_in_which_nothing_happens_costs_nothing() {
    let sleep = "repeat = 400, do = [ { sleep = '9000000 s' } ]";
    let write = |path: &str| format!("write = '{path}', size = '1 GB'");
    let operations = [&write("/data/x"), sleep, &write("/data/y"), sleep, "fsync = '/data/y'"];
    let case = case().process("p", &operations).set("machine.vm.dirty_writeback_centisecs=1");
    for model in ["kernel", "wrench", "no-cache", "endless-cache"] {
        assert_ends(&case, model);
    }
}

/// Time is counted in 64 bits. What took longer ended with exit code 70, or a sleep just took less.
#[test]
fn what_goes_on_beyond_the_end_of_time_is_refused() {
    let sleep = case().process("p", &["repeat = 1200, do = [ { sleep = '9000000 s' } ]"]);
    let errors = ["kernel", "wrench", "no-cache", "endless-cache"].map(|model| sleep.error(model));
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    assert_snapshot!(errors[0], @"test.toml:12: process `p` does a sleep from 9216000000.000 s on, which goes on for longer than can be simulated (292 years, 2^63 ns); make it smaller or the machine faster");
    let huge = case().set("machine.disk.ssd.size=9000 TB").set("machine.disk.ssd.read=10 kB/s");
    let read = huge.file("/data/f", "8000 TB").process("p", &["read = '/data/f'"]);
    assert_snapshot!(read.error("no-cache"), @"test.toml:16: process `p` does a read from the start on, which goes on for longer than can be simulated (292 years, 2^63 ns); make it smaller or the machine faster");
    let compute = case().process("p", &["compute = '9000000 s'"; 1100]);
    let compute = compute.process("q", &["compute = '9000000 s'"; 1100]).set("machine.cores=1");
    assert_snapshot!(compute.error("endless-cache"), @"test.toml:524: process `p` does a compute from 9216000000.000 s on, which goes on for longer than can be simulated (292 years, 2^63 ns); make it smaller or the machine faster");
}

/// 10,000 readers of one file took half a minute: with each that began or ended at the same instant all others were looked at.
#[test]
fn the_work_for_readers_of_one_file_grows_with_their_number() {
    let work = |count: u32| {
        let readers = format!("count = {count}");
        let case = linux().file("/data/f", "1 GB").process_with("p{n}", &readers, &["read = '/data/f'"]);
        let (result, asked) = ends_within(200, &case, "kernel");
        assert!(result.is_ok(), "{count} readers take more than {asked}");
        asked
    };
    let (some, many) = (work(500), work(1500));
    assert!(some > 5 && many <= 4 * some, "{some} and {many} with three times as many");
}

/// 10 GB in calls of one byte: `cawl` computes each, all of them at one instant, and heard nobody meanwhile.
#[test]
fn an_event_that_takes_long_can_be_stopped() {
    let write = |size: &str| {
        let write = format!("write = '/data/f', size = '{size}', call = '1 B'");
        let case = case().option("bw_reduced", "500 MB/s").process("p", &[&write]);
        case.set("model.cawl.bw_reduced=500 MB/s")
    };
    let (result, asked) = ends_within(3, &write("90 MB"), "cawl");
    assert!(matches!(result, Err(SimulationError::Interrupted)) && asked == 4, "{asked}");
    assert_snapshot!(write("10 GB").error("cawl"), @"test.toml:12: process `p` does a write at the start, and model `cawl` computes each of its more than 100 million calls; ask model `kernel`, or write less in larger calls");
}

/// Loops around loops that are never gone round were gone round all the same, for ever.
#[test]
fn loops_around_nothing_are_nothing() {
    let loops = "repeat = 1000000, do = [ { repeat = 1000000, do = [ { repeat = 0, do = [ { sleep = '1 s' } ] } ] } ]";
    let result = assert_ends(&case().process("p", &[loops, "sleep = '2 s'"]), "no-cache");
    assert_eq!((result.end.0, result.operations.end.len()), (2_000_000_000, 1));
}

#[test]
fn more_empty_operations_than_can_be_listed_are_refused() {
    let error = |case: Case| case.scenario().map(|_| ()).unwrap_err().to_string();
    let times = |rounds: u32, body: &str| format!("repeat = {rounds}, do = [ {body} ]");
    let inner = format!("{{ {} }}", times(1_000_000, "{ compute = '0 s' }"));
    assert_snapshot!(error(case().process("p", &[&times(1_000_000, &inner)])), @"test.toml:11: with those of this process there are more than 10000000 operations that take no time; give `repeat` or `count` less");
    let copies = "count = 1000000";
    let signal = times(1_000_000, "{ signal = 'x' }");
    assert_snapshot!(error(case().process_with("p{n}", copies, &[&signal])), @"test.toml:11: with those of this process there are more than 10000000 operations that take no time; give `repeat` or `count` less");
    let long = times(1_000_000, &format!("{{ {} }}", times(1_000_000, "{ sleep = '1 s' }")));
    assert!(case().process("p", &[&long]).scenario().is_ok(), "it is seen to take long");
    let ends = times(1_000_000, "{ open = '/data/f' }, { exit = true }, { close = '/data/f' }");
    let ends = case().file("/data/f", "1 GB").process_with("p{n}", copies, &[&ends]);
    assert!(ends.scenario().is_ok(), "one round of each");
}

/// On a disk of 3.3 B/s time ran over; on one of 1 kB/s estimates were renewed five times a second for years.
#[test]
fn rates_that_no_device_has_are_refused() {
    let slow = on(MACHINE).set("machine.disk.ssd.read=3.3 B/s").process("p", &["sync = true"]);
    assert_snapshot!(slow.scenario().map(|_| ()).unwrap_err(), @"--set machine.disk.ssd.read=3.3 B/s: `read`: `3.3 B/s` is no rate that can be simulated; rates go from 10 kB/s to 1000 TB/s");
}
