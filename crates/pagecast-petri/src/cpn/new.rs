//! Makes a file of CPN Tools from a net that was built elsewhere.

use super::xml::Element;
use crate::net::{Arc, ArcKind, MONITOR_KINDS, Net, Page, Place, Port, Shape, Transition};

/// The whole file.
pub fn workspace(net: &Net) -> Element {
    let mut globbox = Element::new("globbox");
    let mut block =
        Element::new("block").with("id", "IDdeclarations").child(text("id", "Standard declarations"));
    for declaration in &net.declarations {
        block = block.child(declared(&declaration.id, &declaration.text));
    }
    globbox = globbox.child(block);
    let mut cpnet = Element::new("cpnet").child(globbox);
    for page in &net.pages {
        cpnet = cpnet.child(page_element(page));
    }
    for name in fusion_sets(net) {
        let members = net
            .pages
            .iter()
            .flat_map(|page| &page.places)
            .filter(|place| place.fusion.as_ref() == Some(&name));
        let fusion = Element::new("fusion").with("id", format!("IDfusion{name}")).with("name", &name);
        let members = members.map(|place| Element::new("fusion_elm").with("idref", &place.id));
        cpnet = cpnet.child(members.fold(fusion, Element::child));
    }
    let mut instances = Element::new("instances");
    let mut next = 0;
    for &page in &net.primes {
        instances = instances.child(instance(net, page, None, &mut next, 0));
    }
    cpnet = cpnet
        .child(instances)
        .child(Element::new("options"))
        .child(Element::new("binders"))
        .child(monitors(net))
        .child(Element::new("IndexNode").with("expanded", "true"));
    let generator =
        Element::new("generator").with("tool", "CPN Tools").with("version", "4.0.1").with("format", "6");
    Element::new("workspaceElements").child(generator).child(cpnet)
}

fn monitors(net: &Net) -> Element {
    let block = Element::new("monitorblock").with("name", "Monitors");
    net.monitors.iter().zip(1..).fold(block, |block, (monitor, number)| {
        let kind = MONITOR_KINDS.iter().find(|kind| kind.0 == monitor.kind).map_or("", |kind| kind.1);
        let mut element = Element::new("monitor")
            .with("id", format!("IDmonitor{number}"))
            .with("name", &monitor.name)
            .with("type", monitor.kind)
            .with("typedescription", kind)
            .with("disabled", monitor.is_disabled);
        for (node, instance) in &monitor.nodes {
            let node = Element::new("node").with("idref", node).with("pageinstanceidref", instance);
            element = element.child(node);
        }
        for (at, (name, body)) in monitor.functions.iter().enumerate() {
            let ml = Element::new("ml").with("id", format!("IDmonitor{number}ml{at}")).holding(body);
            let layout = text("layout", body);
            element = element
                .child(Element::new("declaration").with("name", capital(name)).child(ml).child(layout));
        }
        for (name, value) in &monitor.options {
            element = element.child(Element::new("option").with("name", capital(name)).with("value", value));
        }
        block.child(element)
    })
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

fn text(name: &str, of: &str) -> Element {
    Element::new(name).holding(of)
}

/// A declaration; CPN Tools reads the text where an element says no more.
fn declared(id: &str, declaration: &str) -> Element {
    let declaration = declaration.trim();
    let layout = text("layout", declaration);
    let body = declaration.trim_end_matches(';');
    if let Some(rest) = body.strip_prefix("var ")
        && let Some((names, of)) = rest.split_once(':')
    {
        let mut element =
            Element::new("var").with("id", id).child(Element::new("type").child(text("id", of.trim())));
        for name in names.split(',') {
            element = element.child(text("id", name.trim()));
        }
        return element.child(layout);
    }
    if let Some(rest) = body.strip_prefix("globref ")
        && let Some((name, value)) = rest.split_once('=')
    {
        let element = Element::new("globref").with("id", id).child(text("id", name.trim()));
        return element.child(text("ml", value.trim())).child(layout);
    }
    if let Some(rest) = body.strip_prefix("colset ")
        && let Some((name, of)) = rest.split_once('=')
    {
        return colset(id, name.trim(), of.trim()).child(layout);
    }
    Element::new("ml").with("id", id).holding(declaration).child(layout)
}

fn colset(id: &str, name: &str, of: &str) -> Element {
    let (of, is_timed) = match of.strip_suffix(" timed") {
        Some(of) => (of.trim(), true),
        None => (of, false),
    };
    let element = Element::new("color").with("id", id).child(text("id", name));
    let element = if is_timed { element.child(Element::new("timed")) } else { element };
    element.child(colset_body(of))
}

fn colset_body(of: &str) -> Element {
    let (kind, rest) = of.split_once(char::is_whitespace).unwrap_or((of, ""));
    let rest = rest.trim();
    let ids = |element: Element, parts: &str, sign: char| {
        parts.split(sign).fold(element, |element, part| element.child(text("id", part.trim())))
    };
    let ml = |element: Element, of: &str| element.child(text("ml", of.trim()));
    let range = |element: Element, range: &str| match range.split_once("..") {
        Some((low, high)) => ml(ml(element, low), high),
        None => element,
    };
    let with = |name: &str| {
        let element = Element::new(name);
        match rest.strip_prefix("with ") {
            Some(of) if of.contains("..") => element.child(range(Element::new("with"), of)),
            Some(of) => element.child(ids(Element::new("with"), of.trim_matches(['(', ')']), ',')),
            None => element,
        }
    };
    match kind {
        "with" => ids(Element::new("enum"), rest, '|'),
        "unit" | "bool" | "int" | "real" | "string" | "intinf" | "time" => with(kind),
        "index" => {
            let (constructor, of) = rest.split_once(" with ").unwrap_or((rest, ""));
            range(Element::new("index"), of).child(text("id", constructor.trim()))
        }
        "product" => ids(Element::new("product"), rest, '*'),
        "record" => rest.split('*').fold(Element::new("record"), |element, field| {
            element.child(ids(Element::new("recordfield"), field, ':'))
        }),
        "list" => {
            let (item, of) = rest.split_once(" with ").unwrap_or((rest, ""));
            let element = Element::new("list");
            let element =
                if of.is_empty() { element } else { element.child(range(Element::new("with"), of)) };
            element.child(text("id", item.trim()))
        }
        "union" => rest.split('+').fold(Element::new("union"), |element, field| {
            let (constructor, of) = field.split_once(':').unwrap_or((field, ""));
            let inner = Element::new("unionfield").child(text("id", constructor.trim()));
            let of = of.trim();
            element.child(if of.is_empty() {
                inner
            } else {
                inner.child(Element::new("type").child(text("id", of)))
            })
        }),
        "subset" => {
            let (of, how) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let (word, expression) = how.trim().split_once(char::is_whitespace).unwrap_or((how, ""));
            Element::new("subset").child(text("id", of)).child(ml(Element::new(word), expression))
        }
        alias => Element::new("alias").child(text("id", alias)),
    }
}

fn page_element(page: &Page) -> Element {
    let mut element =
        Element::new("page").with("id", &page.id).child(Element::new("pageattr").with("name", &page.name));
    for place in &page.places {
        element = element.child(place_element(place));
    }
    for transition in &page.transitions {
        element = element.child(transition_element(transition));
    }
    for arc in &page.arcs {
        element = element.child(arc_element(page, arc));
    }
    element.child(Element::new("constraints"))
}

/// Position, fill, line and text, as every object has them.
fn drawn(element: Element, x: f64, y: f64) -> Element {
    element
        .child(Element::new("posattr").with("x", format!("{x:.6}")).with("y", format!("{y:.6}")))
        .child(Element::new("fillattr").with("colour", "White").with("pattern", "").with("filled", "false"))
        .child(Element::new("lineattr").with("colour", "Black").with("thick", "1").with("type", "Solid"))
        .child(Element::new("textattr").with("colour", "Black").with("bold", "false"))
}

fn inscribed(name: &str, id: &str, of: &str, x: f64, y: f64) -> Element {
    let inner = Element::new("text").with("tool", "CPN Tools").with("version", "4.0.1");
    let inner = if of.is_empty() { inner } else { inner.holding(of) };
    drawn(Element::new(name).with("id", format!("{id}{name}")), x, y).child(inner)
}

fn sized(name: &str, shape: Shape) -> Element {
    Element::new(name).with("w", format!("{:.6}", shape.width)).with("h", format!("{:.6}", shape.height))
}

fn place_element(place: &Place) -> Element {
    let Shape { x, y, width, height } = place.shape;
    let mut element = drawn(Element::new("place").with("id", &place.id), x, y)
        .child(text("text", &place.name))
        .child(sized("ellipse", place.shape))
        .child(Element::new("token").with("x", "-10.000000").with("y", "0.000000"))
        .child(Element::new("marking").with("x", "0.000000").with("y", "0.000000").with("hidden", "false"));
    if let Some(fusion) = &place.fusion {
        let info = Element::new("fusioninfo").with("id", format!("{}fusion", place.id)).with("name", fusion);
        element = element.child(drawn(info, x, y - height / 2.0));
    }
    if let Some(port) = place.port {
        let kind = match port {
            Port::In => "In",
            Port::Out => "Out",
            Port::InOut => "I/O",
        };
        let port = Element::new("port").with("id", format!("{}port", place.id)).with("type", kind);
        element = element.child(drawn(port, x, y - height / 2.0));
    }
    let (right, above, below) = (x + width / 2.0, y + height / 2.0 + 6.0, y - height / 2.0 - 6.0);
    element.child(inscribed("type", &place.id, &place.colset, right, below)).child(inscribed(
        "initmark",
        &place.id,
        &place.initial,
        right,
        above,
    ))
}

fn transition_element(transition: &Transition) -> Element {
    let Shape { x, y, width, height } = transition.shape;
    let mut element = drawn(Element::new("trans").with("id", &transition.id).with("explicit", "false"), x, y)
        .child(text("text", &transition.name))
        .child(sized("box", transition.shape));
    if let Some(of) = &transition.substitution {
        let sockets: String = of.sockets.iter().map(|(port, socket)| format!("({port},{socket})")).collect();
        let info = Element::new("subpageinfo")
            .with("id", format!("{}subpage", transition.id))
            .with("name", &transition.name);
        let subst = Element::new("subst").with("subpage", &of.page).with("portsock", sockets);
        element = element.child(subst.child(drawn(info, x, y - height / 2.0)));
    }
    let (left, right, above, below) =
        (x - width / 2.0, x + width / 2.0, y + height / 2.0 + 6.0, y - height / 2.0 - 6.0);
    element
        .child(Element::new("binding").with("x", "7.000000").with("y", "-3.000000"))
        .child(inscribed("cond", &transition.id, &transition.guard, left, above))
        .child(inscribed("time", &transition.id, &transition.delay, right, above))
        .child(inscribed("code", &transition.id, &transition.code, right, below))
        .child(inscribed("priority", &transition.id, &transition.priority, left, below))
}

fn arc_element(page: &Page, arc: &Arc) -> Element {
    let orientation = match arc.kind {
        ArcKind::Input => "PtoT",
        ArcKind::Output => "TtoP",
        ArcKind::Both => "BOTHDIR",
        ArcKind::Inhibitor => "Inhibitor",
        ArcKind::Reset => "Reset",
    };
    let (place, transition) = (&page.places[arc.place], &page.transitions[arc.transition]);
    let middle = ((place.shape.x + transition.shape.x) / 2.0, (place.shape.y + transition.shape.y) / 2.0);
    let (x, y) = arc.label.unwrap_or(middle);
    let element = Element::new("arc").with("id", &arc.id).with("orientation", orientation).with("order", "1");
    let mut element = drawn(element, 0.0, 0.0)
        .child(Element::new("arrowattr").with("headsize", "1.200000").with("currentcyckle", "2"))
        .child(Element::new("transend").with("idref", &transition.id))
        .child(Element::new("placeend").with("idref", &place.id));
    for (serial, (x, y)) in arc.bends.iter().enumerate() {
        let bend = Element::new("bendpoint")
            .with("id", format!("{}bend{serial}", arc.id))
            .with("serial", serial + 1);
        element = element.child(drawn(bend, *x, *y));
    }
    element.child(inscribed("annot", &arc.id, &arc.inscription, x, y))
}

fn fusion_sets(net: &Net) -> Vec<String> {
    let mut names: Vec<_> =
        net.pages.iter().flat_map(|page| &page.places).filter_map(|place| place.fusion.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn instance(net: &Net, page: usize, transition: Option<&str>, next: &mut usize, depth: usize) -> Element {
    *next += 1;
    let element = Element::new("instance").with("id", format!("IDinstance{next}"));
    let mut element = match transition {
        None => element.with("page", &net.pages[page].id),
        Some(transition) => element.with("trans", transition),
    };
    for transition in &net.pages[page].transitions {
        let inner = transition.substitution.as_ref().and_then(|of| net.page(&of.page));
        // A page inside of itself is refused when the net is compiled.
        if let Some(inner) = inner.filter(|_| depth < 100) {
            element = element.child(instance(net, inner, Some(&transition.id), next, depth + 1));
        }
    }
    element
}
