//! A bad file or a bad net gets one message, which says where.

use pagecast_petri::cpn::Document;
use pagecast_petri::model::compile;
use pagecast_petri::net::{Arc, ArcKind, DeclarationText, Net, Page, Place, Port, Substitution, Transition};

fn file_error(text: &str) -> String {
    Document::read("net.cpn", text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn what_is_no_file_of_cpn_tools_is_refused() {
    assert_eq!(file_error(""), "net.cpn:1:1: this is no XML: there is no element");
    assert_eq!(
        file_error("<html/>"),
        "net.cpn:1:1: a file of CPN Tools begins with <workspaceElements>, and not with <html>"
    );
    assert_eq!(
        file_error("<workspaceElements>\n  <cpnet>"),
        "net.cpn:2:10: the file ends inside of <cpnet> of line 2"
    );
    assert!(file_error("<workspaceElements><cpnet></workspaceElements>").starts_with("net.cpn:1:"));
}

#[test]
fn entities_are_refused() {
    let text =
        "<!DOCTYPE workspaceElements [<!ENTITY a \"aaaa\">]>\n<workspaceElements>&a;</workspaceElements>";
    assert_eq!(
        file_error(text),
        "net.cpn:1:1: the document type declares entities or elements; remove the part in [ ]"
    );
    assert_eq!(
        file_error("<workspaceElements>&a;</workspaceElements>"),
        "net.cpn:1:20: the entity `&a;` is not expanded"
    );
}

#[test]
fn a_document_type_elsewhere_is_not_fetched() {
    let text = "<!DOCTYPE workspaceElements PUBLIC \"-//CPN//DTD CPNXML 1.0//EN\" \"http://192.0.2.1/cpn.dtd\">
        <workspaceElements><cpnet><globbox/><page id=\"p\"><pageattr name=\"P\"/></page></cpnet></workspaceElements>";
    let document = Document::read("net.cpn", text.as_bytes()).unwrap();
    assert_eq!(document.net.pages[0].name, "P");
}

/// A net of one place and one transition.
fn net() -> Net {
    let declared = ["colset INT = int;", "colset STRING = string;", "var n : INT;", "var s : STRING;"];
    let place = Place { id: "a".into(), name: "A".into(), colset: "INT".into(), ..Place::default() };
    let transition = Transition { id: "t".into(), name: "T".into(), ..Transition::default() };
    let arc = Arc {
        id: "x".into(),
        kind: ArcKind::Input,
        place: 0,
        transition: 0,
        inscription: "n".into(),
        bends: Vec::new(),
        label: None,
    };
    let page = Page {
        id: "p".into(),
        name: "Top".into(),
        places: vec![place],
        transitions: vec![transition],
        arcs: vec![arc],
    };
    Net {
        name: "net.cpn".into(),
        declarations: declared.map(|text| DeclarationText { id: String::new(), text: text.into() }).to_vec(),
        pages: vec![page],
        primes: vec![0],
        instances: Vec::new(),
        monitors: Vec::new(),
    }
}

fn error(change: impl FnOnce(&mut Net)) -> String {
    let mut net = net();
    change(&mut net);
    compile(&net).expect_err("the net is wrong").to_string()
}

#[test]
fn a_type_error_is_on_its_arc() {
    assert_eq!(
        error(|net| net.pages[0].arcs[0].inscription = "\n  n ^ s".into()),
        "net.cpn: page `Top`, arc from `A` to `T`, arc, line 2, column 3: expected string, found int"
    );
}

#[test]
fn a_guard_is_a_condition() {
    assert_eq!(
        error(|net| net.pages[0].transitions[0].guard = "[n + 1]".into()),
        "net.cpn: page `Top`, transition `T`, guard, line 1, column 4: expected bool, found int"
    );
}

#[test]
fn a_variable_has_to_be_bound() {
    let found = error(|net| {
        net.pages[0].arcs[0].kind = ArcKind::Output;
    });
    assert_eq!(
        found,
        "net.cpn: page `Top`, transition `T`: the variable `n` is bound by no input arc, and its colour set INT has too many elements to try them all"
    );
    assert_eq!(
        error(|net| net.pages[0].arcs[0].inscription = "m".into()),
        "net.cpn: page `Top`, arc from `A` to `T`, arc, line 1, column 1: `m` is not declared"
    );
}

#[test]
fn a_declaration_is_named() {
    assert_eq!(
        error(|net| net.declarations[0].text = "colset INT = itn with 1..2;".into()),
        "net.cpn: declaration `colset INT`, line 1, column 18: expected `colset`, `var`, `val`, `fun`, `globref` or `exception`, found `with`"
    );
    assert_eq!(
        error(|net| net.declarations[2].text = "var n : INTT;".into()),
        "net.cpn: declaration `var n`, line 1, column 9: expected the name of a colour set that is declared above"
    );
    assert_eq!(
        error(|net| net.pages[0].places[0].colset = "INTT".into()),
        "net.cpn: page `Top`, place `A`: there is no colour set `INTT`; did you mean `INT`?"
    );
}

#[test]
fn a_port_has_a_socket() {
    let found = error(|net| {
        let port = Place {
            id: "q".into(),
            name: "In".into(),
            port: Some(Port::In),
            ..net.pages[0].places[0].clone()
        };
        net.pages.push(Page { id: "sub".into(), name: "Sub".into(), places: vec![port], ..Page::default() });
        let substitution = Substitution { page: "sub".into(), sockets: Vec::new() };
        net.pages[0].transitions[0].substitution = Some(substitution);
    });
    assert_eq!(
        found,
        "net.cpn: page `Top`, substitution transition `T`: the port `In` of page `Sub` has no socket; assign one"
    );
}

#[test]
fn a_page_inside_of_itself_is_refused() {
    let found = error(|net| {
        net.pages[0].places[0].port = Some(Port::In);
        let sockets = vec![("a".into(), "a".into())];
        net.pages[0].transitions[0].substitution = Some(Substitution { page: "p".into(), sockets });
    });
    assert!(found.contains("is a page inside of itself?"), "{found}");
}

#[test]
fn a_stamp_wants_a_timed_colour_set() {
    assert!(
        error(|net| {
            net.pages[0].arcs[0].kind = ArcKind::Both;
            net.pages[0].arcs[0].inscription = "n @+ 3".into();
        })
        .ends_with("it has a time stamp, and the colour set INT of its place is not timed")
    );
}
