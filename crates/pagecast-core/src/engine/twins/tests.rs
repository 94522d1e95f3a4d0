use std::path::Path;

use super::*;
use crate::scenario::OptionValue;

/// The parts of a scenario that are its hosts, each a group of its own.
fn firsts(processes: &str, change: impl FnOnce(&mut Scenario), options: &[(&str, &str)]) -> Vec<usize> {
    let host = |name: &str| {
        format!(
            "[host.{name}]\ncores = 1\nmemory = {{ size = '1 GB', read = '1 GB/s', write = '1 GB/s' }}\n\
             disk.d = {{ size = '9 GB', read = '1 MB/s', write = '1 MB/s' }}\nmount.'/data'.disk = 'd'\n"
        )
    };
    let text = ["h1", "h2", "h3"].map(host).concat() + processes;
    let nowhere = Path::new("");
    let mut scenario = Scenario::from_toml(text.as_bytes(), "test.toml", nowhere, nowhere, &[])
        .expect("the scenario of a test is right");
    change(&mut scenario);
    let parts = super::super::groups::parts_of(&scenario);
    let options = options.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect();
    let twins = Twins::of(&parts, "kernel", &Settings { options, ..Settings::default() });
    assert!(twins.like.iter().all(|&first| first < twins.firsts.len()));
    twins.like.iter().map(|&first| twins.firsts[first]).collect()
}

const SAME: &str =
    "[[process]]\nname = 'p{n}'\ncount = 3\nhost = 'h{n}'\ndo = [{ write = '/data/f', size = '1 MB' }]\n";

#[test]
fn hosts_that_run_copies_of_a_process_are_alike() {
    assert_eq!(firsts(SAME, |_| (), &[]), [0, 0, 0]);
    let loops = SAME.replace(
        "{ write = '/data/f', size = '1 MB' }",
        "{ repeat = 2, as = 'r', do = [{ write = '/data/{r}', size = '1 MB' }] }",
    );
    assert_eq!(firsts(&loops, |_| (), &[]), [0, 0, 0]);
}

#[test]
fn copies_that_do_different_things_are_not() {
    assert_eq!(firsts(&SAME.replace("/data/f", "/data/f{n}"), |_| (), &[]), [0, 1, 2]);
    let second = SAME.replace("'p{n}'", "'q'").replace("count = 3\nhost = 'h{n}'", "host = 'h2'");
    assert_eq!(firsts(&(SAME.to_owned() + &second), |_| (), &[]), [0, 1, 0]);
    let later = |scenario: &mut Scenario| scenario.processes[2].start = Nanos(1);
    assert_eq!(firsts(SAME, later, &[]), [0, 0, 2]);
    let file = "[[file]]\npath = '/data/g'\nsize = '1 MB'\nhost = 'h1'\n";
    assert_eq!(firsts(&(SAME.to_owned() + file), |_| (), &[]), [0, 1, 1]);
}

#[test]
fn who_waits_for_whom_is_told_by_places_not_names() {
    let after = |of_third: &str| {
        let rest = "do = [{ sleep = '1 s' }]\n";
        let one = |name: &str, host: u32, after: &str| {
            format!("[[process]]\nname = '{name}'\nhost = 'h{host}'\nafter = ['{after}']\n{rest}")
        };
        SAME.to_owned()
            + &format!("[[process]]\nname = 'x{{n}}'\ncount = 3\nhost = 'h{{n}}'\n{rest}")
            + &one("y1", 1, "p1")
            + &one("y2", 2, "p2")
            + &one("y3", 3, of_third)
    };
    // Operations that are written twice are not known to be the same.
    assert_eq!(firsts(&after("x3"), |_| (), &[]), [0, 1, 2]);
    let share = |scenario: &mut Scenario| {
        let program = scenario.processes[6].program.clone();
        scenario.processes[7..].iter_mut().for_each(|process| process.program = program.clone());
    };
    assert_eq!(firsts(&after("p3"), share, &[]), [0, 0, 0]);
    assert_eq!(firsts(&after("x3"), share, &[]), [0, 0, 2]);
}

#[test]
fn hosts_that_differ_in_more_than_their_names_are_not() {
    let cores = |scenario: &mut Scenario| scenario.machine.hosts[1].cores = 2;
    assert_eq!(firsts(SAME, cores, &[]), [0, 1, 0]);
}

#[test]
fn where_names_matter_no_host_is_like_another() {
    let uneven = |scenario: &mut Scenario| scenario.machine.hosts[0].disks[0].unevenness = 0.1;
    assert_eq!(firsts(SAME, uneven, &[]), [0, 1, 1], "but those without such disks");
    assert_eq!(firsts(SAME, |_| (), &[("writeout_fraction", "h1:d 100 %")]), [0, 1, 2]);
    let option = |scenario: &mut Scenario| {
        let value = OptionValue { text: "h1:d 100 %".to_owned(), at: String::new() };
        scenario
            .model_options
            .entry("kernel".to_owned())
            .or_default()
            .insert("writeout_fraction".to_owned(), value);
    };
    assert_eq!(firsts(SAME, option, &[]), [0, 1, 2]);
    assert_eq!(firsts(SAME, |_| (), &[("writeout_fraction", "d 100 %")]), [0, 0, 0]);
}
