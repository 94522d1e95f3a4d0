//! Takes nets from Python, and gives them back, as dicts.

use pagecast_petri::net::{self, ArcKind, DeclarationText, Net, Port, Shape, Substitution};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// A page.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Page {
    name: String,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    arcs: Vec<Arc>,
    prime: bool,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Place {
    name: String,
    colset: String,
    initial: String,
    port: Option<String>,
    fusion: Option<String>,
    x: f64,
    y: f64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Transition {
    name: String,
    guard: String,
    delay: String,
    code: String,
    priority: String,
    /// Name of the page that stands for it, and names of ports with those of their sockets.
    page: Option<String>,
    sockets: Vec<(String, String)>,
    x: f64,
    y: f64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arc {
    kind: String,
    place: String,
    transition: String,
    inscription: String,
}

/// A monitor.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Monitor {
    name: String,
    kind: u32,
    /// Page, kind ("place" or "transition") and name of each node.
    nodes: Vec<(String, String, String)>,
    functions: Vec<(String, String)>,
    options: Vec<(String, String)>,
}

fn id(page: usize, kind: &str, number: usize) -> String {
    format!("ID{}{kind}{}", page + 1, number + 1)
}

/// The net that is described.
pub fn net(name: &str, declarations: Vec<String>, pages: Vec<Page>, monitors: Vec<Monitor>) -> PyResult<Net> {
    let wrong = |message: String| errors::PetriNetError::new_err(format!("{name}: {message}"));
    let number = |page: &str| {
        let found = pages.iter().position(|known| known.name == page);
        found.ok_or_else(|| wrong(format!("there is no page `{page}`")))
    };
    let place_id = |page: usize, place: &str| {
        let found = pages[page].places.iter().position(|known| known.name == place);
        found
            .map(|at| id(page, "place", at))
            .ok_or_else(|| wrong(format!("page `{}` has no place `{place}`", pages[page].name)))
    };
    let mut net = Net { name: name.to_owned(), ..Net::default() };
    for (at, text) in declarations.into_iter().enumerate() {
        net.declarations.push(DeclarationText { id: format!("IDdeclaration{}", at + 1), text });
    }
    for (at, page) in pages.iter().enumerate() {
        let mut made =
            net::Page { id: format!("IDpage{}", at + 1), name: page.name.clone(), ..net::Page::default() };
        for (n, place) in page.places.iter().enumerate() {
            made.places.push(net::Place {
                id: id(at, "place", n),
                name: place.name.clone(),
                colset: place.colset.clone(),
                initial: place.initial.clone(),
                port: match place.port.as_deref() {
                    None => None,
                    Some("in") => Some(Port::In),
                    Some("out") => Some(Port::Out),
                    Some("in/out") => Some(Port::InOut),
                    Some(other) => {
                        return Err(wrong(format!("port=`{other}` is none of in, out and in/out")));
                    }
                },
                fusion: place.fusion.clone(),
                shape: Shape { x: place.x, y: place.y, width: 70.0, height: 45.0 },
            });
        }
        for (n, transition) in page.transitions.iter().enumerate() {
            let substitution = match &transition.page {
                None => None,
                Some(sub) => {
                    let sub = number(sub)?;
                    let pairs = transition
                        .sockets
                        .iter()
                        .map(|(port, socket)| Ok((place_id(sub, port)?, place_id(at, socket)?)));
                    let sockets = pairs.collect::<PyResult<_>>()?;
                    Some(Substitution { page: format!("IDpage{}", sub + 1), sockets })
                }
            };
            made.transitions.push(net::Transition {
                id: id(at, "trans", n),
                name: transition.name.clone(),
                guard: transition.guard.clone(),
                delay: transition.delay.clone(),
                code: transition.code.clone(),
                priority: transition.priority.clone(),
                channel: String::new(),
                substitution,
                shape: Shape { x: transition.x, y: transition.y, width: 70.0, height: 40.0 },
            });
        }
        for (n, arc) in page.arcs.iter().enumerate() {
            let find = |kind: &str, name: &str, found: Option<usize>| {
                found.ok_or_else(|| wrong(format!("page `{}` has no {kind} `{name}`", page.name)))
            };
            made.arcs.push(net::Arc {
                id: id(at, "arc", n),
                kind: kind(&arc.kind)
                    .ok_or_else(|| wrong(format!("there is no arc of kind `{}`", arc.kind)))?,
                place: find(
                    "place",
                    &arc.place,
                    page.places.iter().position(|known| known.name == arc.place),
                )?,
                transition: find(
                    "transition",
                    &arc.transition,
                    page.transitions.iter().position(|known| known.name == arc.transition),
                )?,
                inscription: arc.inscription.clone(),
                bends: Vec::new(),
                label: None,
            });
        }
        if page.prime {
            net.primes.push(at);
        }
        net.pages.push(made);
    }
    for monitor in monitors {
        let nodes = monitor.nodes.iter().map(|(page, kind, node)| {
            let at = number(page)?;
            let found = match &**kind {
                "place" => pages[at].places.iter().position(|known| known.name == *node),
                _ => pages[at].transitions.iter().position(|known| known.name == *node),
            };
            let found = found.ok_or_else(|| wrong(format!("page `{page}` has no {kind} `{node}`")))?;
            Ok((id(at, if kind == "place" { "place" } else { "trans" }, found), String::new()))
        });
        net.monitors.push(net::MonitorText {
            name: monitor.name.clone(),
            kind: monitor.kind,
            nodes: nodes.collect::<PyResult<_>>()?,
            functions: monitor.functions,
            is_disabled: false,
            options: monitor.options,
        });
    }
    Ok(net)
}

fn kind(name: &str) -> Option<ArcKind> {
    Some(match name {
        "in" => ArcKind::Input,
        "out" => ArcKind::Output,
        "both" => ArcKind::Both,
        "inhibitor" => ArcKind::Inhibitor,
        "reset" => ArcKind::Reset,
        _ => return None,
    })
}

fn kind_name(kind: ArcKind) -> &'static str {
    match kind {
        ArcKind::Input => "in",
        ArcKind::Output => "out",
        ArcKind::Both => "both",
        ArcKind::Inhibitor => "inhibitor",
        ArcKind::Reset => "reset",
    }
}

/// The pages of a net.
pub fn pages<'py>(py: Python<'py>, net: &Net) -> PyResult<Vec<Bound<'py, PyDict>>> {
    net.pages
        .iter()
        .enumerate()
        .map(|(at, page)| {
            let found = PyDict::new(py);
            found.set_item("name", &page.name)?;
            found.set_item("prime", net.primes.contains(&at))?;
            let places = page.places.iter().map(|place| {
                let found = shaped(py, &place.name, place.shape)?;
                found.set_item("colset", place.colset.trim())?;
                found.set_item("initial", place.initial.trim())?;
                found.set_item(
                    "port",
                    place.port.map(|port| match port {
                        Port::In => "in",
                        Port::Out => "out",
                        Port::InOut => "in/out",
                    }),
                )?;
                found.set_item("fusion", &place.fusion)?;
                Ok(found)
            });
            found.set_item("places", places.collect::<PyResult<Vec<_>>>()?)?;
            let transitions = page.transitions.iter().map(|transition| {
                let found = shaped(py, &transition.name, transition.shape)?;
                found.set_item("guard", transition.guard.trim())?;
                found.set_item("delay", transition.delay.trim())?;
                found.set_item("code", transition.code.trim())?;
                found.set_item("priority", transition.priority.trim())?;
                let sub = transition.substitution.as_ref();
                let sub = sub.and_then(|of| net.page(&of.page)).map(|page| &net.pages[page].name);
                found.set_item("page", sub)?;
                Ok(found)
            });
            found.set_item("transitions", transitions.collect::<PyResult<Vec<_>>>()?)?;
            let arcs = page.arcs.iter().map(|arc| {
                let found = PyDict::new(py);
                found.set_item("kind", kind_name(arc.kind))?;
                found.set_item("place", arc.place)?;
                found.set_item("transition", arc.transition)?;
                found.set_item("inscription", arc.inscription.trim())?;
                found.set_item("bends", &arc.bends)?;
                found.set_item("label", arc.label)?;
                Ok(found)
            });
            found.set_item("arcs", arcs.collect::<PyResult<Vec<_>>>()?)?;
            Ok(found)
        })
        .collect()
}

fn shaped<'py>(py: Python<'py>, name: &str, shape: Shape) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("name", name)?;
    found.set_item("x", shape.x)?;
    found.set_item("y", shape.y)?;
    found.set_item("width", shape.width)?;
    found.set_item("height", shape.height)?;
    Ok(found)
}
