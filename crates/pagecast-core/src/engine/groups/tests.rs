//! Checks which hosts belong to one group.

use std::num::NonZero;
use std::path::Path;

use super::*;
use crate::workload::{Program, ProgramError, ProgramSource};

/// Five hosts alike; "b" mounts what "d" exports.
fn scenario(processes: &str) -> Scenario {
    let host = |name: &str| {
        let nfs = if name == "b" { "mount.'/remote'.nfs = 'd:/data'" } else { "" };
        format!(
            "[host.{name}]\ncores = 1\nmemory = {{ size = '1 GB', read = '1 GB/s', write = '1 GB/s' }}\n\
             disk.d = {{ size = '9 GB', read = '1 MB/s', write = '1 MB/s' }}\nmount.'/data'.disk = 'd'\n{nfs}\n"
        )
    };
    let link = "[link.lan]\nbetween = ['b', 'd']\nrate = '1 MB/s'\n";
    let text = ["a", "b", "c", "d", "e"].map(host).concat() + link + processes;
    let nowhere = Path::new("");
    Scenario::from_toml(text.as_bytes(), "test.toml", nowhere, nowhere, &[])
        .expect("the scenario of a test is right")
}

fn process(name: &str, host: &str, keys: &str, operations: &str) -> String {
    format!("[[process]]\nname = '{name}'\nhost = '{host}'\n{keys}\ndo = [ {operations} ]\n")
}

fn groups(processes: &[String]) -> Vec<u32> {
    let groups = groups_of_hosts(&scenario(&processes.concat()));
    assert_eq!(groups.count as u32, groups.of_host.iter().max().expect("there are hosts") + 1);
    groups.of_host
}

const NOTHING: &str = "{ sleep = '1 s' }";

#[test]
fn a_host_belongs_to_the_server_of_its_files() {
    assert_eq!(groups(&[process("p", "a", "", NOTHING)]), [0, 1, 2, 1, 3]);
}

#[test]
fn a_host_belongs_to_those_whose_processes_its_own_wait_for() {
    let follower = process("q", "a", "after = ['p']", NOTHING);
    assert_eq!(groups(&[process("p", "e", "", NOTHING), follower]), [0, 1, 2, 1, 0]);
}

#[test]
fn hosts_that_wait_for_and_signal_an_event_belong_together() {
    let waiter = process("p", "c", "", "{ repeat = 2, do = [ { wait = 'x' } ] }");
    let signaller = process("q", "d", "", "{ signal = 'x' }");
    let other = process("r", "e", "", "{ signal = 'y' }");
    assert_eq!(groups(&[waiter, signaller, other]), [0, 1, 1, 1, 2]);
}

/// A program of which nobody knows anything before it runs.
struct Unknown;

impl ProgramSource for Unknown {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(std::iter::empty()))
    }
}

#[test]
fn a_program_of_which_nothing_is_known_may_wait_for_anybody() {
    let mut scenario = scenario(&process("p", "c", "", NOTHING));
    scenario.processes[0].program = std::sync::Arc::new(Unknown);
    assert_eq!(groups_of_hosts(&scenario).of_host, [0; 5]);
}

#[test]
fn the_number_of_threads_changes_no_result() {
    let write = "{ write = '/data/f', size = '300 MB' }";
    let processes = ["a", "b", "c", "e"].map(|host| process(&format!("of {host}"), host, "", write));
    let scenario = scenario(&processes.concat());
    let run = |threads| {
        let settings = Settings { threads: NonZero::new(threads), ..Settings::default() };
        crate::simulate(&scenario, "kernel", settings).expect("it goes through")
    };
    let one = format!("{:?}", run(1));
    assert!(one.contains("of e"));
    for threads in [2, 3, 9] {
        assert_eq!(format!("{:?}", run(threads)), one, "{threads} threads");
    }
}

#[test]
fn of_several_groups_that_fail_the_first_is_told() {
    let allocates = |host| process(&format!("of {host}"), host, "", "{ alloc = '2 GB' }");
    let scenario = scenario(&["a", "c", "e"].map(allocates).concat());
    for threads in [1, 2, 3] {
        let settings = Settings { threads: NonZero::new(threads), ..Settings::default() };
        let error = crate::simulate(&scenario, "kernel", settings).expect_err("there is 1 GB");
        assert!(error.to_string().contains("of a"), "{error}");
    }
}

#[test]
fn groups_on_several_threads_can_be_stopped() {
    let endless =
        ["a", "c"].map(|host| process(host, host, "", "{ repeat = 1000000, do = [ { sleep = '0 s' } ] }"));
    let scenario = scenario(&endless.concat());
    let settings =
        Settings { interrupt: Some(Box::new(|_| true)), threads: NonZero::new(2), ..Settings::default() };
    assert!(matches!(crate::simulate(&scenario, "no-cache", settings), Err(SimulationError::Interrupted)));
}
