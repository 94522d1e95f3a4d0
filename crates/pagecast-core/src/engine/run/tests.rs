//! Checks the engine with policies that watch, cap and cancel their transfers, as no published model does.

use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};

use super::*;
use crate::Settings;
use crate::flow::fluid::Fluid;
use crate::flow::stepped::Stepped;
use crate::policy::{Call, FileId};
use crate::result::{FileLevels, MemoryLevels, Part, Parts};

const SECOND: u64 = 1_000_000_000;

/// What a played policy was told: at which second, and what.
type Told = Arc<Mutex<Vec<(f64, String)>>>;

/// Starts a transfer for each read and, after a second of the first, does what it was made for.
struct Played {
    intent: Intent,
    told: Told,
    /// The operation of the first transfer, the transfer and when it began.
    first: Option<(OperationId, crate::flow::FlowId, Nanos)>,
    calls: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Intent {
    /// Caps the first transfer at 10 MB/s, and lifts that 5 s later.
    Cap,
    /// Ends the first transfer and its operation.
    Cancel,
    /// Ends the first transfer and its operation as soon as its rate falls.
    EndWhenSlower,
    /// Listens.
    Watch,
}

impl Played {
    fn end_first(&mut self, now: Nanos, out: &mut Actions) {
        if let Some((operation, flow, began)) = self.first.take() {
            out.cancel(flow);
            let parts = Parts::of(Part::Reclaim, now - began);
            out.done(operation, Outcome { parts, ..Outcome::default() });
        }
    }

    fn note(&self, now: Nanos, what: String) {
        self.told.lock().unwrap().push((now.as_seconds(), what));
    }
}

impl Policy for Played {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        let Call::Read { file, bytes, .. } = request.call else {
            return out.done(request.operation, Outcome::default());
        };
        let tag = u64::from(request.operation.0);
        let flow = out.start(FlowSpec { watched: true, ..FlowSpec::new(file.read, bytes.0, tag) });
        self.first.get_or_insert((request.operation, flow, now));
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        self.note(now, format!("{} bytes moved", done.bytes));
        out.done(OperationId(done.tag as u32), Outcome { parts: done.parts, ..Outcome::default() });
    }

    fn advance(&mut self, now: Nanos, progress: &[Progress], out: &mut Actions) {
        for each in progress {
            self.note(
                now,
                format!("transfer of {}: {} bytes, {} per second", each.tag, each.done, each.rate),
            );
            let is_slower = each.rate < 100e6;
            if self.intent == Intent::EndWhenSlower && is_slower {
                self.end_first(now, out);
            }
        }
        if !progress.is_empty() {
            return;
        }
        self.calls += 1;
        match (self.intent, self.calls, self.first) {
            (Intent::Cap, 1, Some((_, flow, _))) => out.set_cap(flow, Some((10e6, Part::Throttled))),
            (Intent::Cap, 2, Some((_, flow, _))) => out.set_cap(flow, None),
            (Intent::Cancel, 1, _) => self.end_first(now, out),
            _ => {}
        }
    }

    fn next_call(&self) -> Option<Nanos> {
        match self.intent {
            Intent::Cap | Intent::Cancel => {
                [1, 6].get(self.calls as usize).map(|second| Nanos(second * SECOND))
            }
            Intent::EndWhenSlower | Intent::Watch => None,
        }
    }

    fn levels(&self) -> MemoryLevels {
        MemoryLevels::default()
    }

    fn residency(&self, _file: FileId) -> FileLevels {
        FileLevels::default()
    }
}

/// Two hosts with a disk of 100 MB/s each, and what their processes do, under played policies with the same intent.
fn play(intent: Intent, processes: &[(&str, &str, &str)]) -> (SimulationResult, Vec<(f64, String)>) {
    play_on::<Fluid>(intent, processes)
}

/// The same over a network of one's choice.
fn play_on<N: Network>(
    intent: Intent,
    processes: &[(&str, &str, &str)],
) -> (SimulationResult, Vec<(f64, String)>) {
    let host = |name: &str| {
        format!(
            "[host.{name}]\ncores = 1\nmemory = {{ size = '1 GB', read = '1 GB/s', write = '1 GB/s' }}\n\
             disk.d = {{ size = '9 GB', read = '100 MB/s', write = '100 MB/s' }}\nmount.'/{name}'.disk = 'd'\n"
        )
    };
    let files = ["one", "other"]
        .map(|name| format!("[[file]]\npath = '/{name}/f'\nsize = '1 GB'\nhost = '{name}'\n"));
    let process = |&(name, host, operations): &(&str, &str, &str)| {
        format!("[[process]]\nname = '{name}'\nhost = '{host}'\ndo = [ {operations} ]\n")
    };
    let text = [host("one"), host("other")].concat()
        + &files.concat()
        + &processes.iter().map(process).collect::<String>();
    let nowhere = FilePath::new("");
    let scenario =
        Scenario::from_toml(text.as_bytes(), "test.toml", nowhere, nowhere, &[]).expect("it is right");
    let settings = Settings::default();
    let mut engine = Engine::<N>::new(&scenario, "no-cache", &settings, 2).expect("it is right");
    let told = Told::default();
    for host in &mut engine.hosts {
        host.policy = Box::new(Played { intent, told: told.clone(), first: None, calls: 0 });
    }
    let end = engine.run().expect("it goes through");
    let result = engine.finish(end).expect("it goes through");
    (result, std::mem::take(&mut *told.lock().unwrap()))
}

fn parts(result: &SimulationResult, row: usize) -> Vec<(&'static str, f64)> {
    let all =
        Part::ALL.iter().map(|&part| (part.name(), result.operations.parts.get(row).get(part).as_seconds()));
    all.filter(|&(_, seconds)| seconds > 0.0).collect()
}

const READ: &str = "{ read = '/one/f' }";

#[test]
fn a_cap_holds_a_transfer_back_until_it_is_lifted() {
    let (result, _) = play(Intent::Cap, &[("p", "one", READ)]);
    // 100 MB in the first second, 50 MB in the next five, 850 MB at full rate.
    assert_eq!(parts(&result, 0), [("device_read", 9.5), ("throttled", 5.0)]);
}

#[test]
fn a_cancelled_transfer_moves_nothing_more_and_gives_its_share_back() {
    let (result, told) = play(Intent::Cancel, &[("p", "one", READ), ("q", "one", READ)]);
    assert_eq!(result.operations.end, [Nanos(SECOND), Nanos(10 * SECOND + SECOND / 2)]);
    assert_eq!(parts(&result, 0), [("reclaim", 1.0)]);
    assert_eq!(told.last(), Some(&(10.5, "1000000000 bytes moved".to_owned())), "50 MB in the first second");
}

#[test]
fn a_transfer_after_a_cancelled_one_is_its_own() {
    let (result, _) = play(Intent::Cancel, &[("p", "one", &[READ, READ].join(", "))]);
    assert_eq!(result.operations.end, [Nanos(SECOND), Nanos(11 * SECOND)]);
}

#[test]
fn a_policy_hears_of_every_new_rate_of_what_it_watches() {
    let (_, told) =
        play(Intent::Watch, &[("p", "one", READ), ("q", "one", "{ sleep = '5 s' }, { read = '/one/f' }")]);
    let rates: Vec<(f64, &str)> = told.iter().map(|(time, what)| (*time, &**what)).collect();
    assert_eq!(
        rates,
        [
            (0.0, "transfer of 0: 0 bytes, 100000000 per second"),
            (5.0, "transfer of 0: 500000000 bytes, 50000000 per second"),
            (5.0, "transfer of 1: 0 bytes, 50000000 per second"),
            (15.0, "1000000000 bytes moved"),
            (15.0, "transfer of 1: 500000000 bytes, 100000000 per second"),
            (20.0, "1000000000 bytes moved"),
        ]
    );
}

#[test]
fn each_host_hears_of_its_own_transfers() {
    let (_, told) = play(
        Intent::Watch,
        &[("p", "one", READ), ("q", "other", "{ sleep = '5 s' }, { read = '/other/f' }")],
    );
    let at_five: Vec<&str> = told.iter().filter(|(time, _)| *time == 5.0).map(|(_, what)| &**what).collect();
    assert_eq!(at_five, ["transfer of 1: 0 bytes, 100000000 per second"]);
}

/// A policy ended an operation when it heard of a new rate, and the process went on only at the next event of somebody else.
#[test]
fn a_process_goes_on_at_once_when_its_operation_ends_by_news_of_a_rate() {
    let operations = [READ, "{ compute = '1 s' }"].join(", ");
    let processes = [("p", "one", &*operations), ("q", "one", "{ sleep = '5 s' }, { read = '/one/f' }")];
    let (result, _) = play(Intent::EndWhenSlower, &processes);
    let computing =
        result.operations.operation.iter().position(|&name| name == "compute").expect("it computes");
    assert_eq!(result.operations.start[computing], Nanos(5 * SECOND));
}

#[test]
fn steps_do_the_same_up_to_a_step_for_each_transfer() {
    let twice = [READ, READ].join(", ");
    let processes = [("p", "one", &*twice), ("q", "one", "{ sleep = '5 s' }, { read = '/one/f' }")];
    for intent in [Intent::Cap, Intent::Cancel, Intent::EndWhenSlower, Intent::Watch] {
        let ends = [play_on::<Fluid>(intent, &processes).0, play_on::<Stepped>(intent, &processes).0]
            .map(|result| result.operations.end);
        for (event, step) in ends[0].iter().zip(&ends[1]) {
            assert!(event <= step && step.0 - event.0 <= 5_000_000, "{event} and {step}");
        }
    }
}

#[test]
fn disks_and_mounts_of_other_hosts_are_devices_of_their_own() {
    let disk = |name: &str| format!("disk.{name} = {{ size = '9 GB', read = '1 MB/s', write = '1 MB/s' }}\n");
    let mount = |path: &str, source: &str| format!("mount.'{path}'.{source}\n");
    let memory = "cores = 1\nmemory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }\n";
    let text = [
        "[host.client]\n",
        memory,
        &disk("a"),
        &mount("/a", "disk = 'a'"),
        &mount("/b", "nfs = 'server:/a'"),
        &mount("/c", "nfs = 'server:/b'"),
        "[host.server]\n",
        memory,
        &disk("a"),
        &disk("b"),
        &mount("/a", "disk = 'a'"),
        &mount("/b", "disk = 'b'"),
        "[link.lan]\nbetween = ['client', 'server']\nrate = '1 MB/s'\n",
        "[[process]]\nname = 'p'\ndo = [ { sleep = '1 s' } ]\n",
    ];
    let nowhere = FilePath::new("");
    let scenario =
        Scenario::from_toml(text.concat().as_bytes(), "test.toml", nowhere, nowhere, &[]).expect("right");
    let settings = Settings::default();
    let mut engine = Engine::<Fluid>::new(&scenario, "no-cache", &settings, 2).expect("it is right");
    let mut device = |host: usize, path: &str| {
        let located = engine.namespace.locate(host, &path.into()).expect("it is mounted");
        engine.view(host, located).device.0
    };
    assert_eq!(["/a/f", "/b/f", "/c/f"].map(|path| device(0, path)), [0, 2, 3]);
    assert_eq!(["/a/f", "/b/f"].map(|path| device(1, path)), [0, 1]);
}
