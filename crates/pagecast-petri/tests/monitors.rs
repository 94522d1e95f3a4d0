//! Monitors measure, write and stop as those of CPN Tools do, and change nothing of a run.

use std::sync::Arc as Shared;

use pagecast_petri::model::compile;
use pagecast_petri::monitors::{Seen, Statistics};
use pagecast_petri::net::{Arc, ArcKind, DeclarationText, MonitorText, Net, Page, Place, Transition};
use pagecast_petri::simulator::{Ended, Limits, Simulator};

const PREDICATE: &str = "fun pred (bindelem) =\nlet\n  fun predBindElem (Top'Up (1, {n, ...})) = n mod 2 = 1\n    | predBindElem _ = false\nin\n  predBindElem bindelem\nend";

/// A counter that goes up every 10 time units until 5; every second one puts a token on a shelf.
fn net(monitors: Vec<MonitorText>) -> Net {
    let place = |id: &str, name: &str, colset: &str, initial: &str| Place {
        id: id.into(),
        name: name.into(),
        colset: colset.into(),
        initial: initial.into(),
        ..Place::default()
    };
    let up = Transition {
        id: "up".into(),
        name: "Up".into(),
        guard: "[n < 5]".into(),
        delay: "@+ 10".into(),
        ..Transition::default()
    };
    let arc = |id: &str, kind, place, inscription: &str| Arc {
        id: id.into(),
        kind,
        place,
        transition: 0,
        inscription: inscription.into(),
        bends: Vec::new(),
        label: None,
    };
    let page = Page {
        id: "top".into(),
        name: "Top".into(),
        places: vec![
            place("counter", "Counter", "INT", "1`0"),
            place("shelf", "Shelf", "PLAIN", ""),
            place("list", "List", "LIST", "1`[]"),
        ],
        transitions: vec![up],
        arcs: vec![
            arc("a", ArcKind::Input, 0, "n"),
            arc("b", ArcKind::Output, 0, "n + 1"),
            arc("c", ArcKind::Output, 1, "if n mod 2 = 1 then 1`n else empty"),
            arc("d", ArcKind::Input, 2, "l"),
            arc("e", ArcKind::Output, 2, "n :: l"),
        ],
    };
    let declared = [
        "colset INT = int timed;",
        "colset PLAIN = int;",
        "colset LIST = list PLAIN;",
        "var n : INT; var l : LIST;",
    ];
    Net {
        name: "net.cpn".into(),
        declarations: declared.map(|text| DeclarationText { id: text.into(), text: text.into() }).to_vec(),
        pages: vec![page],
        primes: vec![0],
        instances: Vec::new(),
        monitors,
    }
}

fn monitor(kind: u32, nodes: &[&str], functions: &[(&str, &str)]) -> MonitorText {
    let own = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
    MonitorText {
        name: "M".into(),
        kind,
        nodes: nodes.iter().map(|&id| (id.to_owned(), String::new())).collect(),
        functions: functions.iter().map(own).collect(),
        is_disabled: false,
        options: Vec::new(),
    }
}

fn run(monitor: MonitorText) -> (Ended, u64, Seen) {
    let model = compile(&net(vec![monitor])).unwrap_or_else(|error| panic!("{error}"));
    let mut simulator = Simulator::new(Shared::new(model), 1).unwrap();
    simulator.watch().unwrap();
    let ended = simulator.run(&Limits::default(), |_| false, |_, _| {}, false).unwrap();
    let seen = simulator.watched().unwrap().expect("they were asked for").seen;
    (ended, simulator.steps, seen[0].clone())
}

fn measured(monitor: MonitorText) -> Statistics {
    run(monitor).2.statistics
}

fn error(monitor: MonitorText) -> String {
    compile(&net(vec![monitor])).expect_err("it is wrong").to_string()
}

#[test]
fn a_marking_size_weighs_as_long_as_it_lasts() {
    // Occurrences at 0, 10, ..., 40; those of n = 1 and n = 3 put a token there, at 10 and 30.
    let shelf = measured(monitor(0, &["shelf"], &[]));
    assert_eq!((shelf.count, shelf.min, shelf.max, shelf.last), (6, 0.0, 2.0, 2.0));
    // Time goes on to 50, when the last token is ready.
    assert_eq!(shelf.mean(), (20.0 + 2.0 * 20.0) / 50.0);
}

#[test]
fn the_length_of_a_list_is_that_of_the_token() {
    let list = measured(monitor(5, &["list"], &[]));
    assert_eq!((list.first, list.last, list.max), (0.0, 5.0, 5.0));
}

#[test]
fn occurrences_are_counted() {
    let up = measured(monitor(6, &["up"], &[]));
    assert_eq!((up.count, up.sum), (5, 5.0));
}

#[test]
fn a_function_is_given_binding_elements_and_markings() {
    let observer = "fun obs (bindelem, Top'Shelf_1_mark : PLAIN ms) =\nlet\n  fun obsBindElem (Top'Up (1, {n, ...})) = n * 100 + size Top'Shelf_1_mark\n    | obsBindElem _ = ~1\nin\n  obsBindElem bindelem\nend";
    let predicate = PREDICATE.replace("(bindelem)", "(bindelem, Top'Shelf_1_mark : PLAIN ms)");
    let functions = [
        ("predicate", &*predicate),
        ("observer", observer),
        ("init function", "fun init (Top'Shelf_1_mark : PLAIN ms) = SOME 7"),
        ("stop", "fun stop (Top'Shelf_1_mark : PLAIN ms) = NONE"),
    ];
    let seen = measured(monitor(3, &["up", "shelf"], &functions));
    // n = 1 with a token, which the occurrence has added, and n = 3 with two.
    assert_eq!((seen.count, seen.first, seen.sum, seen.last), (3, 7.0, 7.0 + 1101.0 - 1000.0 + 302.0, 302.0));
}

#[test]
fn what_is_written_is_kept() {
    let functions = [
        ("predicate", PREDICATE),
        ("observer", "fun obs (bindelem) = Int.toString (time ()) ^ \"\\n\""),
        ("init function", "fun init () = \"times\\n\""),
        ("stop", "fun stop () = \"end\\n\""),
    ];
    assert_eq!(run(monitor(4, &["up"], &functions)).2.text, "times\n10\n30\nend\n");
}

#[test]
fn breakpoints_end_a_run() {
    let ended = |monitor| {
        let (ended, steps, _) = run(monitor);
        (ended == Ended::Monitor(0), steps)
    };
    assert_eq!(ended(monitor(1, &["up"], &[("predicate", PREDICATE)])), (true, 2));
    assert_eq!(ended(monitor(1, &[], &[("predicate", "fun pred () = time () >= 20")])), (true, 3));
    assert_eq!(
        ended(monitor(1, &["shelf"], &[("predicate", "fun pred (m : PLAIN ms) = size m = 2")])),
        (true, 4)
    );
    assert_eq!(ended(monitor(8, &["up"], &[])), (false, 5));
    assert_eq!(ended(monitor(7, &["shelf"], &[])), (true, 1));
    let mut not_empty = monitor(7, &["shelf"], &[]);
    not_empty.options = vec![("empty".into(), "false".into())];
    assert_eq!(ended(not_empty), (true, 2));
}

#[test]
fn a_monitor_that_is_switched_off_or_has_effects_outside_does_nothing() {
    let mut off = monitor(0, &["nowhere"], &[]);
    off.is_disabled = true;
    assert!(compile(&net(vec![off])).unwrap().monitors.is_empty());
    assert!(compile(&net(vec![monitor(2, &["up"], &[])])).unwrap().monitors.is_empty());
}

#[test]
fn a_mistake_names_the_monitor() {
    assert_eq!(
        error(monitor(0, &["nowhere"], &[])),
        "net.cpn: monitor `M`: its node `nowhere` is no place and no transition of a page in use"
    );
    assert_eq!(
        error(monitor(5, &["counter"], &[])),
        "net.cpn: monitor `M`: its place has the colour set INT, which is no list"
    );
    assert_eq!(error(monitor(3, &["up"], &[])), "net.cpn: monitor `M`: it has no function `pred`");
    assert_eq!(
        error(monitor(1, &["up"], &[("predicate", "fun pred (bindelem) = 1")])),
        "net.cpn: monitor `M`, pred: expected bool, found int"
    );
    assert_eq!(
        error(monitor(1, &["up"], &[("predicate", "fun pred (bindelem) =\n  tru")])),
        "net.cpn: monitor `M`, pred, line 2, column 3: `tru` is not declared; did you mean `true`?"
    );
}
