//! Small files of CPN Tools: what their places hold at the beginning and after a run.

use std::sync::Arc;

use pagecast_petri::cpn::Document;
use pagecast_petri::error::Result;
use pagecast_petri::model::{Model, compile};
use pagecast_petri::simulator::{Limits, Simulator};
use pagecast_petri::space::Space;
use pagecast_petri::stack::on_large_stack;

fn place(id: &str, colset: &str, initial: &str) -> String {
    format!(
        "<place id=\"{id}\"><text>{id}</text><type><text>{colset}</text></type><initmark><text>{initial}</text></initmark></place>"
    )
}

fn transition(id: &str, guard: &str, code: &str) -> String {
    format!(
        "<trans id=\"{id}\"><text>{id}</text><cond><text>{guard}</text></cond><code><text>{code}</text></code></trans>"
    )
}

fn arc(from: &str, to: &str, inscription: &str) -> String {
    let (orientation, place, transition) =
        if from.starts_with('t') { ("TtoP", to, from) } else { ("PtoT", from, to) };
    format!(
        "<arc id=\"{from}{to}\" orientation=\"{orientation}\"><transend idref=\"{transition}\"/><placeend idref=\"{place}\"/><annot><text>{inscription}</text></annot></arc>"
    )
}

/// A file of one page.
fn file(declared: &str, page: &[String]) -> String {
    let page = page.concat();
    format!(
        "<workspaceElements><cpnet><globbox><ml id=\"d\">{declared}</ml></globbox><page id=\"p\"><pageattr name=\"P\"/>{page}</page></cpnet></workspaceElements>"
    )
}

fn model(file: &str) -> Result<Arc<Model>> {
    Ok(Arc::new(compile(&Document::read("net.cpn", file.as_bytes())?.net)?))
}

fn shown(simulator: &Simulator, place: &str) -> String {
    let model = simulator.model();
    let place = model.place(place).expect("the place is there");
    model.program.multiset_shown_in(model.places[place].colset, &simulator.marking(place))
}

/// The marking of a place after so many occurrences, at most.
fn try_marking(file: &str, place: &str, steps: u64) -> Result<String> {
    on_large_stack(|| {
        let mut simulator = Simulator::new(model(file)?, 1)?;
        simulator.run(&Limits { steps: Some(steps), ..Limits::default() }, |_| false, |_, _| {}, false)?;
        Ok(shown(&simulator, place))
    })
}

fn marking(file: &str, place: &str, steps: u64) -> String {
    try_marking(file, place, steps).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_initial_marking_may_have_names_of_its_own() {
    let of = |initial: &str| {
        let page = [place("a", "INT", initial), transition("t", "", ""), arc("a", "t", "n")];
        let file = file("colset INT = int; var n : INT;", &page);
        Space::explore(model(&file).unwrap(), 10, || false).unwrap();
        marking(&file, "a", 0)
    };
    assert_eq!(of("1`(case [1, 2] of [] =&gt; 0 | x :: _ =&gt; x)"), "1`1");
    assert_eq!(of("let val x = 3 val y = 4 in x`y end"), "3`4");
    assert_eq!(of("1`((hd []) handle e =&gt; 5)"), "1`5");
}

/// A file with more elements of the net behind its first page.
fn with(file: &str, more: &str) -> String {
    file.replace("</cpnet>", &format!("{more}</cpnet>"))
}

fn substitution(id: &str, page: &str, sockets: &str) -> String {
    format!("<trans id=\"{id}\"><text>{id}</text><subst subpage=\"{page}\" portsock=\"{sockets}\"/></trans>")
}

#[test]
fn a_monitor_watches_the_instance_that_it_names() {
    let top = [
        place("a", "INT", "1`1"),
        place("b", "INT", ""),
        substitution("t1", "sub", "(q,a)"),
        substitution("t2", "sub", "(q,b)"),
    ];
    let sub = [
        "<page id=\"sub\"><pageattr name=\"Sub\"/>".to_owned(),
        place("q", "INT", "").replace("</place>", "<port type=\"In\"/></place>"),
        place("l", "INT", ""),
        transition("tu", "", ""),
        arc("q", "tu", "n"),
        arc("tu", "l", "n"),
        "</page>".to_owned(),
    ];
    let instances = "<instances><instance id=\"I1\" page=\"p\"><instance id=\"I2\" trans=\"t1\"/><instance id=\"I3\" trans=\"t2\"/></instance></instances>";
    let last = |instance: &str| {
        let monitor = format!(
            "<monitorblock><monitor name=\"M\" type=\"0\"><node idref=\"l\" pageinstanceidref=\"{instance}\"/></monitor></monitorblock>"
        );
        let file = file("colset INT = int; var n : INT;", &top);
        let file = with(&file, &(sub.concat() + instances + &monitor));
        let mut simulator = Simulator::new(model(&file).unwrap(), 1).unwrap();
        simulator.watch().unwrap();
        simulator.run(&Limits::default(), |_| false, |_, _| {}, false).unwrap();
        simulator.watched().unwrap().expect("they were asked for").seen[0].statistics.last
    };
    assert_eq!([last("I2"), last("I3")], [1.0, 0.0]);
    // An instance that is not there stands for the first one.
    assert_eq!(last("I9"), 1.0);
}

#[test]
fn the_members_of_a_fusion_set_have_one_initial_marking() {
    let of = |first: &str, second: &str| {
        let fused = |id: &str, initial: &str| {
            place(id, "INT", initial).replace("</place>", "<fusioninfo name=\"F\"/></place>")
        };
        let page = [fused("a", first), fused("b", second)];
        try_marking(&file("colset INT = int;", &page), "a", 0).map_err(|error| error.to_string())
    };
    assert_eq!(of("1`1", ""), Ok("1`1".into()));
    assert_eq!(of("", "1`2"), Ok("1`2".into()));
    assert_eq!(of("1`1 ++ 1`2", "1`1++1`2"), Ok("1`1++1`2".into()));
    assert_eq!(
        of("1`1", "1`2"),
        Err("net.cpn: page `P`, place `b`: its initial marking differs from that of `a`, which is the same place; remove one of them".into())
    );
}

#[test]
fn a_fusion_set_may_list_its_members_alone() {
    let page = [
        place("a", "INT", "1`1"),
        place("b", "INT", ""),
        transition("t", "", ""),
        arc("b", "t", "n"),
        arc("t", "b", "n + 1"),
    ];
    let set = "<fusion name=\"F\"><fusion_elm idref=\"a\"/><fusion_elm idref=\"b\"/></fusion>";
    let file = with(&file("colset INT = int; var n : INT;", &page), set);
    assert_eq!(marking(&file, "a", 3), "1`4");
}

#[test]
fn a_net_without_a_page_at_the_top_is_refused() {
    let port = place("a", "INT", "1`1").replace("</place>", "<port type=\"I/O\"/></place>");
    let file = file("colset INT = int;", &[port, substitution("t", "p", "(a,a)")]);
    assert_eq!(
        model(&file).expect_err("the page is inside of itself").to_string(),
        "net.cpn: page `P`, the page: no page is at the top, as each stands for a transition; is a page inside of itself?"
    );
}

#[test]
fn a_net_may_have_no_colours() {
    let page = [
        place("a", "", "5"),
        place("b", "UNIT", ""),
        transition("t", "", ""),
        arc("a", "t", "2"),
        arc("t", "b", ""),
    ];
    let file = file("", &page);
    assert_eq!((marking(&file, "a", 9), marking(&file, "b", 9)), ("1`()".into(), "2`()".into()));
    let file = file.replace("UNIT", "INT");
    assert_eq!(
        model(&file).expect_err("an integer has to be written").to_string(),
        "net.cpn: page `P`, arc from `t` to `b`, arc: it has no inscription"
    );
}

#[test]
fn a_guard_may_ask_for_the_step_and_the_time() {
    let page = [
        place("a", "INT", "1`0"),
        place("b", "INT", "1`0"),
        transition("t1", "", ""),
        transition("t2", "[step () &lt; 3]", "input (m); action (print \"next\");"),
        arc("a", "t1", "n"),
        arc("t1", "a", "n + 1"),
        arc("b", "t2", "m"),
        arc("t2", "b", "step ()"),
    ];
    let file = file("colset INT = int; var n, m : INT;", &page);
    // After three occurrences only one of the transitions can go on.
    let last = |place| marking(&file, place, 20).trim_start_matches("1`").parse::<u64>().expect("one number");
    assert!(last("a") >= 17);
    assert!(last("b") < 3);
    let refused = Space::explore(model(&file).unwrap(), 10, || false).map(|_| ()).unwrap_err().to_string();
    assert!(refused.ends_with("counts steps or has references, so the net has no state space"), "{refused}");
}

#[test]
fn a_net_may_have_a_variable_of_the_name_of_a_function() {
    let page = [place("a", "INT", "1`3"), transition("t", "", ""), arc("a", "t", "step")];
    let file = file("colset INT = int; var step : INT;", &page);
    assert_eq!(Space::explore(model(&file).unwrap(), 10, || false).unwrap().len(), 2);
}

#[test]
fn a_function_that_is_a_value_may_read_references() {
    let page = [
        place("a", "INT", "1`0"),
        place("b", "INT", "1`0"),
        transition("t1", "", "action (n := !n + 1);"),
        transition("t2", "[is_late ()]", ""),
        arc("a", "t1", "i"),
        arc("t1", "a", "i + 1"),
        arc("b", "t2", "i"),
    ];
    let declared = "colset INT = int; var i : INT; val n = ref 0; val is_late = fn () =&gt; !n &gt;= 3;";
    let file = file(declared, &page);
    assert_eq!(marking(&file, "b", 3), "1`0");
    assert_eq!(marking(&file, "b", 40), "empty");
    assert!(Space::explore(model(&file).unwrap(), 10, || false).is_err());
}
