//! Any file and any inscription is taken: a net that runs, or one message of one line; nothing panics and nothing runs on.
//!
//! `make fuzz` goes on for longer.

use std::sync::Arc as Shared;

use pagecast_petri::cpn::Document;
use pagecast_petri::model::compile;
use pagecast_petri::net::{Arc, ArcKind, DeclarationText, Net, Page, Place, Transition};
use pagecast_petri::simulator::{Limits, Simulator};
use pagecast_petri::stack::on_large_stack;
use proptest::prelude::*;
use proptest::sample::Index;

/// Occurrences that a net may have here.
const MOST_STEPS: u64 = 50;

/// Declarations with all kinds of colour sets and patterns.
const DECLARATIONS: [&str; 12] = [
    "colset INT = int with 0..9 timed;",
    "colset E = with red | green | blue;",
    "colset I = index d with 1..3;",
    "colset P = product INT * E;",
    "colset R = record n : INT * e : E timed;",
    "colset L = list INT timed;",
    "colset U = union a : INT + b : E + c;",
    "colset S = subset INT by (fn x => x < 5);",
    "val most = 3;",
    "var n, m : INT; var e : E; var l : L; var r : R; var u : U;",
    "fun add (x, y) = if x > 9 then 0 else x + y;",
    "fun first (x :: _) = x | first [] = most handle Empty => 0;",
];

/// Inscriptions of an input arc, a guard, a delay and an output arc, of a place of lists.
const INSCRIPTIONS: [[&str; 4]; 4] = [
    ["n :: l", "[n < most andalso l <> []]", "@+ n", "l ^^ [add (n, 1)] @+ 2"],
    ["l", "[length l > 0]", "@+ List.foldl (fn (x, y) => x + y) 0 l", "if hd l = 2 then 1`tl l else empty"],
    ["l", "[not (null l)]", "", "let val x = first l in 1`[x mod 3] ++ 2`(List.take (l, 1)) end"],
    ["l", "[case l of [] => false | x :: _ => x >= 0]", "@+ discrete (1, 3)", "1`(rev l) -- empty"],
];

/// An initial marking of the place.
const INITIAL: &str = "1`[1,2,3] ++ 2`(case [4] of [] => [] | x :: _ => let val y = x in [y] end) @ 5";

fn net([input, guard, delay, output]: [&str; 4]) -> Net {
    let place = Place {
        id: "a".into(),
        name: "A".into(),
        colset: "L".into(),
        initial: INITIAL.into(),
        ..Place::default()
    };
    let transition = Transition {
        id: "t".into(),
        name: "T".into(),
        guard: guard.into(),
        delay: delay.into(),
        code: "input (l); output (m); action (length l);".into(),
        ..Transition::default()
    };
    let arc = |kind, id: &str, inscription: &str| Arc {
        id: id.into(),
        kind,
        place: 0,
        transition: 0,
        inscription: inscription.into(),
        bends: Vec::new(),
        label: None,
    };
    let page = Page {
        id: "p".into(),
        name: "Top".into(),
        places: vec![place],
        transitions: vec![transition],
        arcs: vec![arc(ArcKind::Input, "x", input), arc(ArcKind::Output, "y", output)],
    };
    Net {
        name: "net.cpn".into(),
        declarations: DECLARATIONS
            .map(|text| DeclarationText { id: text.into(), text: text.into() })
            .to_vec(),
        pages: vec![page],
        primes: vec![0],
        instances: Vec::new(),
        monitors: Vec::new(),
    }
}

/// Compiles a net and runs it for a while.
fn try_running(net: &Net) {
    let done = on_large_stack(|| {
        let model = compile(net)?;
        let mut simulator = Simulator::new(Shared::new(model), 1)?;
        let limits = Limits { steps: Some(MOST_STEPS), ..Limits::default() };
        simulator.run(&limits, |_| false, |_, _| {}, false)
    });
    if let Err(error) = done {
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
    }
}

fn try_reading(bytes: &[u8]) {
    match Document::read("net.cpn", bytes) {
        Ok(document) => {
            let written = document.write();
            let again = Document::read("net.cpn", written.as_bytes()).expect("what is written is read");
            assert_eq!(document.net, again.net, "what is written is what was read");
            try_running(&document.net);
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

/// A place, what to put there, and how.
type Change = (Index, Index, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<Index>(), any::<Index>(), 0..3_u8), 1..6)
}

/// Words of a language, of which a change puts one in.
fn changed(text: &str, words: &[&str], changes: &[Change]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, what, how) in changes {
        let at = at.index(chars.len() + 1);
        let end = match how {
            0 => at,
            1 => (at + 1).min(chars.len()),
            _ => (at + what.index(8)).min(chars.len()),
        };
        let word = if *how == 2 { "" } else { words[what.index(words.len())] };
        chars.splice(at..end, word.chars());
    }
    chars.into_iter().collect()
}

const OF_ML: [&str; 49] = [
    " ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "`",
    "++",
    "--",
    "**",
    "@@+",
    "ref ",
    "::",
    "^^",
    "@",
    "@+",
    "=>",
    "=",
    "<",
    "|",
    "_",
    "...",
    "~",
    "0",
    "7",
    "1.5",
    "99999999999999999999",
    "\"a",
    "\"",
    "(*",
    "*)",
    "n",
    "l",
    "e",
    "red",
    "if",
    "then",
    "else",
    " let val ",
    " in ",
    " end",
    "fn x => ",
    "case ",
    " of ",
    "#n ",
    "é",
];

const OF_XML: [&str; 18] = [
    "<",
    ">",
    "/>",
    "</",
    "<place id=\"a\">",
    "</place>",
    "<text>",
    "</text>",
    "\"",
    "&amp;",
    "&#0;",
    "&#x10FFFF;",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "\u{0}",
    "é",
];

proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        try_reading(&bytes);
    }

    #[test]
    fn changed_files_are_taken(at in 0..INSCRIPTIONS.len(), changes in changes()) {
        let written = Document::of(net(INSCRIPTIONS[at])).write();
        try_reading(changed(&written, &OF_XML, &changes).as_bytes());
    }

    #[test]
    fn changed_inscriptions_are_taken(at in 0..INSCRIPTIONS.len(), which in 0..4_usize, changes in changes()) {
        let mut inscriptions = INSCRIPTIONS[at];
        let text = changed(inscriptions[which], &OF_ML, &changes);
        inscriptions[which] = &text;
        try_running(&net(inscriptions));
    }

    #[test]
    fn changed_initial_markings_are_taken(changes in changes()) {
        let mut net = net(INSCRIPTIONS[0]);
        net.pages[0].places[0].initial = changed(INITIAL, &OF_ML, &changes);
        try_running(&net);
    }

    #[test]
    fn changed_declarations_are_taken(which in 0..DECLARATIONS.len(), changes in changes()) {
        let mut net = net(INSCRIPTIONS[0]);
        net.declarations[which].text = changed(DECLARATIONS[which], &OF_ML, &changes);
        try_running(&net);
    }
}

#[test]
fn the_seeds_run() {
    for inscriptions in INSCRIPTIONS {
        let net = net(inscriptions);
        compile(&net).unwrap_or_else(|error| panic!("{error}"));
        try_running(&net);
        try_reading(Document::of(net).write().as_bytes());
    }
}
