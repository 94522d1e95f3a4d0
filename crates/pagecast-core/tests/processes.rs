//! Who runs when: `after`, `start`, events, exit, repetition, and the order of what happens at one instant.

use pagecast_core::units::Nanos;

use crate::common::{Case, case};

fn sleeper(case: Case, name: &str, keys: &str, time: &str) -> Case {
    case.process_with(name, keys, &[&format!("sleep = '{time}'")])
}

#[test]
fn a_process_starts_when_all_those_before_it_have_ended() {
    let case = sleeper(case(), "short", "", "1 s");
    let case = sleeper(case, "long", "", "3 s");
    let run = sleeper(case, "last", "after = ['short', 'long']", "1 s").run("no-cache");
    assert_eq!(run.start("last", 0), 3.0);
}

#[test]
fn a_process_starts_no_earlier_than_it_says() {
    let case = sleeper(case(), "late", "start = '1.5 s'", "1 s");
    let case = sleeper(case, "follower", "after = ['late']\nstart = '2 s'", "1 s");
    let run = sleeper(case, "waiter", "after = ['late']\nstart = '7 s'", "1 s").run("no-cache");
    assert_eq!(["late", "follower", "waiter"].map(|name| run.start(name, 0)), [1.5, 2.5, 7.0]);
    assert_eq!(run.0.end, Nanos(8_000_000_000));
}

#[test]
fn processes_follow_each_other_in_a_chain() {
    let case = sleeper(case(), "c", "after = ['b']", "1 s");
    let case = sleeper(case, "b", "after = ['a']", "1 s");
    let run = sleeper(case, "a", "", "1 s").run("no-cache");
    assert_eq!(["a", "b", "c"].map(|name| run.end(name, 0)), [1.0, 2.0, 3.0]);
}

#[test]
fn who_waits_goes_on_when_the_event_is_signalled() {
    let run = case()
        .process("waiter", &["wait = 'go'", "sleep = '1 s'"])
        .process("other", &["sleep = '1 s'", "wait = 'go'"])
        .process("signaller", &["sleep = '3 s'", "signal = 'go'", "sleep = '1 s'"])
        .run("no-cache");
    assert_eq!(run.parts("waiter", 0), [("wait", 3.0)]);
    assert_eq!(run.parts("other", 1), [("wait", 2.0)]);
    assert_eq!((run.end("waiter", 1), run.end("signaller", 2)), (4.0, 4.0));
}

#[test]
fn who_waits_for_what_has_been_signalled_does_not_wait() {
    let run = case()
        .process("signaller", &["signal = 'go'", "sleep = '1 s'"])
        .process("waiter", &["sleep = '2 s'", "wait = 'go'", "wait = 'go'"])
        .run("no-cache");
    assert_eq!(run.all_seconds("waiter"), [2.0, 0.0, 0.0]);
}

#[test]
fn an_event_wakes_only_those_who_wait_for_it() {
    let run = case()
        .process("one", &["wait = 'first'"])
        .process("two", &["wait = 'second'"])
        .process("signaller", &["sleep = '1 s'", "signal = 'first'", "sleep = '1 s'", "signal = 'second'"])
        .run("no-cache");
    assert_eq!((run.end("one", 0), run.end("two", 0)), (1.0, 2.0));
}

#[test]
fn nothing_is_done_after_exit() {
    let run = case().process("p", &["sleep = '1 s'", "exit = true", "sleep = '9 s'"]).run("no-cache");
    assert_eq!(run.all_seconds("p"), [1.0]);
}

#[test]
fn a_repetition_does_its_operations_again_and_again() {
    let run = case()
        .process(
            "p",
            &["repeat = 2, do = [ { sleep = '1 s' }, { repeat = 2, do = [ { compute = '2 s' } ] } ]"],
        )
        .run("no-cache");
    assert_eq!(run.all_seconds("p"), [1.0, 2.0, 2.0, 1.0, 2.0, 2.0]);
}

#[test]
fn rows_are_in_the_order_of_their_ends_and_at_ties_in_that_of_the_processes() {
    let case = sleeper(case(), "slow", "", "2 s");
    let case = sleeper(case, "tied1", "", "1 s");
    let run = sleeper(case, "tied2", "", "1 s").run("no-cache");
    assert_eq!(run.operations.process, [1, 2, 0]);
    assert_eq!(run.operations.index, [0, 0, 0]);
}

#[test]
fn a_scenario_ends_with_its_last_process() {
    let case = sleeper(case(), "short", "", "1 s");
    assert_eq!(sleeper(case, "long", "", "3 s").run("wrench").0.end, Nanos(3_000_000_000));
}
