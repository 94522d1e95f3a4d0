//! Finds the net in a file of CPN Tools.

use std::collections::HashMap;

use super::xml::{Element, Node};
use crate::error::{Error, Result};
use crate::net::{
    Arc, ArcKind, DeclarationText, Instance, MonitorText, Net, Page, Place, Port, Shape, Substitution,
    Transition,
};

/// The net of a file.
pub fn net(file: &str, root: &Element) -> Result<Net> {
    let reader = Reader { file };
    if root.name != "workspaceElements" {
        let message =
            format!("a file of CPN Tools begins with <workspaceElements>, and not with <{}>", root.name);
        return Err(reader.wrong(root, message));
    }
    let cpnet = root.first("cpnet").ok_or_else(|| reader.wrong(root, "there is no <cpnet> in it"))?;
    let mut net = Net { name: file.to_owned(), ..Net::default() };
    for globbox in cpnet.all("globbox") {
        reader.declarations(globbox, &mut net.declarations)?;
    }
    for page in cpnet.all("page") {
        net.pages.push(reader.page(page)?);
    }
    fuse(&mut net, cpnet);
    if net.pages.is_empty() {
        return Err(reader.wrong(cpnet, "the net has no page"));
    }
    (net.primes, net.instances) = primes(&net, cpnet);
    for block in cpnet.all("monitorblock") {
        monitors(block, &mut net.monitors);
    }
    Ok(net)
}

/// Puts places into the fusion sets that list them; one that names its set has it already.
fn fuse(net: &mut Net, cpnet: &Element) {
    for set in cpnet.all("fusion") {
        let members: Vec<_> = set.all("fusion_elm").filter_map(|of| of.attribute("idref")).collect();
        for place in net.pages.iter_mut().flat_map(|page| &mut page.places) {
            if place.fusion.is_none() && members.contains(&place.id.as_str()) {
                place.fusion = set.attribute("name").map(str::to_owned);
            }
        }
    }
}

/// The pages at the top: those that `instances` names, or those that stand for no transition.
fn primes(net: &Net, cpnet: &Element) -> (Vec<usize>, Vec<Instance>) {
    let instances = cpnet.all("instances").flat_map(|instances| instances.all("instance"));
    let named = instances.filter_map(|of| Some((net.page(of.attribute("page")?)?, instance(of))));
    let (named, instances): (Vec<usize>, Vec<Instance>) = named.unzip();
    if !named.is_empty() {
        return (named, instances);
    }
    let transitions = || net.pages.iter().flat_map(|page| &page.transitions);
    let is_used = |id: &str| {
        transitions().filter_map(|transition| transition.substitution.as_ref()).any(|of| of.page == id)
    };
    ((0..net.pages.len()).filter(|&page| !is_used(&net.pages[page].id)).collect(), Vec::new())
}

fn instance(element: &Element) -> Instance {
    let attribute = |name| element.attribute(name).unwrap_or_default().to_owned();
    let inner = element.all("instance").map(instance).collect();
    Instance { id: attribute("id"), transition: attribute("trans"), inner }
}

struct Reader<'a> {
    file: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, element: &Element, message: impl Into<String>) -> Error {
        let (line, message) = (element.line, message.into());
        Error::File { net: self.file.to_owned(), line, column: 1, message }
    }

    fn declarations(&self, block: &Element, found: &mut Vec<DeclarationText>) -> Result<()> {
        for element in block.elements() {
            let id = element.attribute("id").unwrap_or_default().to_owned();
            let text = match element.name.as_str() {
                "block" => {
                    self.declarations(element, found)?;
                    continue;
                }
                "color" => colset(element),
                "var" => variable(element),
                "ml" => Some(element.text()),
                "globref" => {
                    let parts = element.first("id").zip(element.first("ml"));
                    parts.map(|(id, ml)| format!("globref {} = {};", id.text().trim(), ml.text()))
                }
                "use" => {
                    let text = element.first("ml").map(Element::text).unwrap_or_default();
                    return Err(self.wrong(
                        element,
                        format!(
                            "`use {}` loads a file of ML; copy its declarations into the net",
                            text.trim()
                        ),
                    ));
                }
                _ => continue,
            };
            let layout = || element.first("layout").map(Element::text);
            let text = text.or_else(layout).ok_or_else(|| {
                self.wrong(element, format!("<{}> declares nothing that is understood", element.name))
            })?;
            found.push(DeclarationText { id, text });
        }
        Ok(())
    }

    fn page(&self, element: &Element) -> Result<Page> {
        let id = element.attribute("id").unwrap_or_default().to_owned();
        let name =
            element.first("pageattr").and_then(|page| page.attribute("name")).unwrap_or(&id).to_owned();
        let mut page = Page { id, name, ..Page::default() };
        let mut places = HashMap::new();
        let mut transitions = HashMap::new();
        // Some programs put nodes into groups.
        let mut nodes = Vec::new();
        collect(element, &mut nodes);
        for node in nodes.iter().filter(|node| node.name == "place") {
            let place = place(node);
            places.insert(place.id.clone(), page.places.len());
            page.places.push(place);
        }
        for node in nodes.iter().filter(|node| node.name == "trans") {
            let transition = transition(node);
            transitions.insert(transition.id.clone(), page.transitions.len());
            page.transitions.push(transition);
        }
        for node in nodes.iter().filter(|node| node.name == "arc") {
            let arc = self.arc(&page.name, node, &places, &transitions)?;
            page.arcs.push(arc);
        }
        Ok(page)
    }

    fn arc(
        &self,
        page: &str,
        element: &Element,
        places: &HashMap<String, usize>,
        transitions: &HashMap<String, usize>,
    ) -> Result<Arc> {
        let end = |name: &str, known: &HashMap<String, usize>| {
            let id = element.first(name).and_then(|end| end.attribute("idref")).unwrap_or_default();
            known.get(id).copied().ok_or_else(|| {
                let kind = if name == "placeend" { "place" } else { "transition" };
                self.wrong(
                    element,
                    format!("page `{page}`: this arc ends at a {kind} `{id}` that is not on its page"),
                )
            })
        };
        let orientation = element.attribute("orientation").unwrap_or_default();
        let kind = match orientation.to_ascii_lowercase().as_str() {
            "ptot" => ArcKind::Input,
            "ttop" => ArcKind::Output,
            "bothdir" => ArcKind::Both,
            "inhibitor" => ArcKind::Inhibitor,
            "reset" => ArcKind::Reset,
            _ => {
                return Err(self.wrong(
                    element,
                    format!("page `{page}`: there is no arc of orientation `{orientation}`; there are PtoT, TtoP, BOTHDIR, Inhibitor and Reset"),
                ));
            }
        };
        let label = element.first("annot").and_then(position);
        Ok(Arc {
            id: element.attribute("id").unwrap_or_default().to_owned(),
            kind,
            place: end("placeend", places)?,
            transition: end("transend", transitions)?,
            inscription: inscription(element, "annot"),
            bends: element.all("bendpoint").filter_map(position).collect(),
            label,
        })
    }
}

fn collect<'a>(element: &'a Element, found: &mut Vec<&'a Element>) {
    for inner in element.elements() {
        match inner.name.as_str() {
            "place" | "trans" | "arc" => found.push(inner),
            "group" => collect(inner, found),
            _ => {}
        }
    }
}

fn place(element: &Element) -> Place {
    let port = element.first("port").map(|port| match port.attribute("type").unwrap_or_default() {
        "In" => Port::In,
        "Out" => Port::Out,
        _ => Port::InOut,
    });
    Place {
        id: element.attribute("id").unwrap_or_default().to_owned(),
        name: name(element),
        colset: inscription(element, "type"),
        initial: inscription(element, "initmark"),
        port,
        fusion: element.first("fusioninfo").and_then(|of| of.attribute("name")).map(str::to_owned),
        shape: shape(element, "ellipse"),
    }
}

fn transition(element: &Element) -> Transition {
    let substitution = element.first("subst").map(|of| Substitution {
        page: of.attribute("subpage").unwrap_or_default().to_owned(),
        sockets: pairs(of.attribute("portsock").unwrap_or_default()),
    });
    Transition {
        id: element.attribute("id").unwrap_or_default().to_owned(),
        name: name(element),
        guard: inscription(element, "cond"),
        delay: inscription(element, "time"),
        code: inscription(element, "code"),
        priority: inscription(element, "priority"),
        channel: inscription(element, "channel"),
        substitution,
        shape: shape(element, "box"),
    }
}

/// The pairs of `(port,socket)(port,socket)`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let inner = text.split(['(', ')']).filter_map(|pair| pair.split_once(','));
    inner.map(|(port, socket)| (port.trim().to_owned(), socket.trim().to_owned())).collect()
}

/// The name of a node: line breaks of the drawing are blanks.
fn name(element: &Element) -> String {
    let text = element.first("text").map(Element::text).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn inscription(element: &Element, name: &str) -> String {
    let Some(inner) = element.first(name) else { return String::new() };
    let text = inner.first("text").or_else(|| inner.first("id")).map(Element::text);
    text.unwrap_or_default()
}

fn number(element: &Element, name: &str) -> f64 {
    element
        .attribute(name)
        .and_then(|text| text.trim().parse().ok())
        .filter(|x: &f64| x.is_finite())
        .unwrap_or(0.0)
}

fn position(element: &Element) -> Option<(f64, f64)> {
    let at = element.first("posattr")?;
    Some((number(at, "x"), number(at, "y")))
}

fn shape(element: &Element, of: &str) -> Shape {
    let (x, y) = position(element).unwrap_or_default();
    let size = element.first(of);
    let side = |name| size.map_or(0.0, |size| number(size, name));
    Shape { x, y, width: side("w"), height: side("h") }
}

fn ids(element: &Element) -> Vec<String> {
    element.all("id").map(|id| id.text().trim().to_owned()).collect()
}

/// The declaration of a colour set; none if the elements do not say all of it.
fn colset(element: &Element) -> Option<String> {
    let name = element.first("id")?.text();
    let name = name.trim();
    let body = element
        .elements()
        .find(|inner| !matches!(inner.name.as_str(), "id" | "layout" | "timed" | "declare"))?;
    let timed = if element.first("timed").is_some() { " timed" } else { "" };
    let ml = |of: &Element| of.all("ml").map(|ml| ml.text()).collect::<Vec<_>>();
    let range = |of: &Element| {
        let with = of.first("with")?;
        match &ml(with)[..] {
            [low, high] => Some(format!(" with {low}..{high}")),
            _ => None,
        }
    };
    let parts = ids(body);
    let text = match body.name.as_str() {
        "unit" => match body.first("with").map(ids) {
            Some(with) => format!("unit with {}", with.first()?),
            None => "unit".into(),
        },
        "bool" => match body.first("with").map(ids) {
            Some(with) if with.len() == 2 => format!("bool with ({}, {})", with[0], with[1]),
            Some(_) => return None,
            None => "bool".into(),
        },
        "int" | "real" | "string" | "intinf" | "time" => {
            if body.first("with").is_some() && body.first("with")?.first("and").is_some() {
                return None;
            }
            let range = if body.first("with").is_some() { range(body)? } else { String::new() };
            format!("{}{range}", body.name)
        }
        "enum" if !parts.is_empty() => format!("with {}", parts.join(" | ")),
        "index" => match (&ml(body)[..], &parts[..]) {
            ([low, high], [constructor]) => format!("index {constructor} with {low}..{high}"),
            _ => return None,
        },
        "product" if parts.len() > 1 => format!("product {}", parts.join(" * ")),
        "record" => {
            let fields = body.all("recordfield").map(ids).map(|field| match &field[..] {
                [label, of] => Some(format!("{label}: {of}")),
                _ => None,
            });
            format!("record {}", fields.collect::<Option<Vec<_>>>()?.join(" * "))
        }
        "list" if parts.len() == 1 => {
            let range = if body.first("with").is_some() { range(body)? } else { String::new() };
            format!("list {}{range}", parts[0])
        }
        "union" => {
            let alternatives = body.all("unionfield").map(|field| {
                let constructor = field.first("id")?.text();
                let of = field
                    .first("type")
                    .and_then(|of| of.first("id"))
                    .map(|of| format!(": {}", of.text().trim()));
                Some(format!("{}{}", constructor.trim(), of.unwrap_or_default()))
            });
            let alternatives = alternatives.collect::<Option<Vec<_>>>()?;
            if alternatives.is_empty() {
                return None;
            }
            format!("union {}", alternatives.join(" + "))
        }
        "alias" if parts.len() == 1 => parts[0].clone(),
        "subset" if parts.len() == 1 => {
            let by = body.first("by").map(|by| format!("by {}", ml(by).concat()));
            let with = body.first("with").map(|with| format!("with {}", ml(with).concat()));
            format!("subset {} {}", parts[0], by.or(with)?)
        }
        _ => return None,
    };
    Some(format!("colset {name} = {text}{timed};"))
}

fn variable(element: &Element) -> Option<String> {
    let of = element.first("type")?.first("id")?.text();
    let names = ids(element);
    (!names.is_empty()).then(|| format!("var {}: {};", names.join(", "), of.trim()))
}

fn monitors(block: &Element, found: &mut Vec<MonitorText>) {
    for inner in block.all("monitorblock") {
        monitors(inner, found);
    }
    for monitor in block.all("monitor") {
        let attribute = |name| monitor.attribute(name).unwrap_or_default();
        let nodes = monitor.all("node").map(|node| {
            let id = |name| node.attribute(name).unwrap_or_default().to_owned();
            (id("idref"), id("pageinstanceidref"))
        });
        let functions = monitor.all("declaration").map(|of| {
            let text = of.first("ml").map(Element::text).unwrap_or_default();
            (of.attribute("name").unwrap_or_default().to_lowercase(), text)
        });
        let options = monitor.all("option").map(|option| {
            let attribute = |name| option.attribute(name).unwrap_or_default().to_lowercase();
            (attribute("name"), attribute("value"))
        });
        found.push(MonitorText {
            name: attribute("name").to_owned(),
            kind: attribute("type").parse().unwrap_or(u32::MAX),
            nodes: nodes.collect(),
            functions: functions.collect(),
            is_disabled: attribute("disabled") == "true",
            options: options.collect(),
        });
    }
}

/// Puts another text into the declaration of an identity.
pub fn replace_declaration(element: &mut Element, id: &str, text: &str) {
    for node in &mut element.children {
        let Node::Element(inner) = node else { continue };
        let is_declaration =
            matches!(inner.name.as_str(), "ml" | "globref") && inner.attribute("id") == Some(id);
        if !is_declaration {
            replace_declaration(inner, id, text);
        } else if inner.name == "ml" {
            inner.children =
                vec![Node::Text(text.to_owned()), Node::Element(Element::new("layout").holding(text))];
        } else {
            let value = text.split_once('=').map_or("", |(_, value)| value.trim().trim_end_matches(';'));
            for part in &mut inner.children {
                match part {
                    Node::Element(part) if part.name == "ml" => {
                        part.children = vec![Node::Text(value.to_owned())]
                    }
                    Node::Element(part) if part.name == "layout" => {
                        part.children = vec![Node::Text(text.to_owned())]
                    }
                    _ => {}
                }
            }
        }
    }
}
