//! Expands the pages of a net: every instance of a page gets its own places and transitions, ports become their sockets, the places of a
//! fusion set become one.

use std::collections::HashMap;

use crate::error::{Error, Result, Where};
use crate::ml::lexer::lexemes;
use crate::net::{ArcKind, Instance, Net};

/// How deep pages may stand for transitions of other pages.
const DEEPEST: usize = 100;
/// How many places and transitions a net may have in all its instances.
const MOST_NODES: usize = 2_000_000;

/// A net without pages.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// Its places.
    pub places: Vec<FlatNode>,
    /// The page and the number of the drawn place whose initial marking each place has.
    pub initials: Vec<(usize, usize)>,
    /// Its transitions.
    pub transitions: Vec<FlatTransition>,
    /// The place that each drawn place is, by page instance: for drawings.
    pub drawn: Vec<PageInstance>,
}

/// An instance of a page.
#[derive(Clone, Debug)]
pub struct PageInstance {
    /// Number of the page.
    pub page: usize,
    /// Number of the instance of this page, from 1.
    pub instance: usize,
    /// Identity of the instance in the file; empty if it has none.
    pub id: String,
    /// The flat place of each place of the page.
    pub places: Vec<usize>,
    /// The flat transition of each transition of the page; none for substitution transitions.
    pub transitions: Vec<Option<usize>>,
}

/// A place or a transition of an instance of a page.
#[derive(Clone, Copy, Debug)]
pub struct FlatNode {
    /// Number of the page.
    pub page: usize,
    /// Number of the node on its page.
    pub node: usize,
    /// Number of the instance of the page, from 1.
    pub instance: usize,
}

/// A transition with its arcs.
#[derive(Clone, Debug)]
pub struct FlatTransition {
    /// Where it is.
    pub at: FlatNode,
    /// Its arcs: kind, flat place, and number of the arc on its page.
    pub arcs: Vec<(ArcKind, usize, usize)>,
}

/// Expands the pages of a net.
///
/// # Errors
///
/// `Net` for ports without sockets, pages inside themselves, fusion sets that do not agree.
pub fn flatten(net: &Net) -> Result<Flat> {
    let mut flattener =
        Flattener { net, flat: Flat::default(), fused: HashMap::new(), instances: HashMap::new() };
    if let (true, Some(page)) = (net.primes.is_empty(), net.pages.first()) {
        let place = Where::element(&net.name, &page.name, "the page".into());
        let message = "no page is at the top, as each stands for a transition; is a page inside of itself?";
        return Err(Error::Net { place, message: message.into() });
    }
    for (at, &page) in net.primes.iter().enumerate() {
        flattener.page(page, net.instances.get(at), &HashMap::new(), 0)?;
    }
    Ok(flattener.flat)
}

struct Flattener<'a> {
    net: &'a Net,
    flat: Flat,
    /// The place of each fusion set.
    fused: HashMap<String, usize>,
    instances: HashMap<usize, usize>,
}

impl Flattener<'_> {
    fn place_of(&self, page: usize, node: usize) -> Where {
        let page = &self.net.pages[page];
        Where::element(&self.net.name, &page.name, format!("place `{}`", page.places[node].name))
    }

    fn page(
        &mut self,
        number: usize,
        named: Option<&Instance>,
        sockets: &HashMap<String, usize>,
        depth: usize,
    ) -> Result<()> {
        let net = self.net;
        let page = &net.pages[number];
        let on_page = |element: String| Where::element(&net.name, &page.name, element);
        if depth == DEEPEST {
            let message = format!(
                "pages stand for transitions more than {DEEPEST} levels deep; is a page inside of itself?"
            );
            return Err(Error::Net { place: on_page("the page".into()), message });
        }
        if self.flat.places.len() + self.flat.transitions.len() > MOST_NODES {
            let message =
                format!("the net has more than {MOST_NODES} places and transitions in all its instances");
            return Err(Error::Net { place: on_page("the page".into()), message });
        }
        let count = self.instances.entry(number).or_default();
        *count += 1;
        let instance = *count;
        let mut places = Vec::with_capacity(page.places.len());
        for (node, place) in page.places.iter().enumerate() {
            let at = FlatNode { page: number, node, instance };
            let fused = match &place.fusion {
                Some(set) => self.fused.get(set).copied(),
                None => None,
            };
            let flat = match (sockets.get(&place.id).copied(), fused) {
                (Some(_), Some(_)) => {
                    let message = "a port cannot be in a fusion set, too".to_owned();
                    return Err(Error::Net { place: self.place_of(number, node), message });
                }
                (Some(known), None) | (None, Some(known)) => {
                    self.agree(known, number, node)?;
                    known
                }
                (None, None) => {
                    self.flat.places.push(at);
                    self.flat.initials.push((number, node));
                    self.flat.places.len() - 1
                }
            };
            if let Some(set) = &place.fusion {
                self.mark(flat, number, node)?;
                self.fused.insert(set.clone(), flat);
            }
            places.push(flat);
        }
        let mut arcs = vec![Vec::new(); page.transitions.len()];
        for (arc, of) in page.arcs.iter().enumerate() {
            arcs[of.transition].push((of.kind, places[of.place], arc));
        }
        let mut flat_transitions = Vec::with_capacity(page.transitions.len());
        let mut inner = Vec::new();
        for (node, (transition, arcs)) in page.transitions.iter().zip(arcs).enumerate() {
            let Some(substitution) = &transition.substitution else {
                flat_transitions.push(Some(self.flat.transitions.len()));
                self.flat
                    .transitions
                    .push(FlatTransition { at: FlatNode { page: number, node, instance }, arcs });
                continue;
            };
            flat_transitions.push(None);
            let place = on_page(format!("substitution transition `{}`", transition.name));
            let Some(sub) = net.page(&substitution.page) else {
                let message =
                    format!("it stands for the page `{}`, which is not in the net", substitution.page);
                return Err(Error::Net { place, message });
            };
            let sockets = self.sockets(number, &places, sub, &substitution.sockets, &place)?;
            for (_, _, arc) in arcs {
                let socket = &page.places[page.arcs[arc].place];
                let is_assigned =
                    substitution.sockets.iter().any(|(a, b)| *a == socket.id || *b == socket.id);
                if !is_assigned {
                    let message = format!(
                        "its place `{}` is the socket of no port of page `{}`; assign one",
                        socket.name, net.pages[sub].name
                    );
                    return Err(Error::Net { place, message });
                }
            }
            let named = named.and_then(|of| of.inner.iter().find(|of| of.transition == transition.id));
            inner.push((sub, named, sockets));
        }
        let id = named.map_or_else(String::new, |of| of.id.clone());
        let transitions = flat_transitions;
        self.flat.drawn.push(PageInstance { page: number, instance, id, places, transitions });
        inner.into_iter().try_for_each(|(sub, named, sockets)| self.page(sub, named, &sockets, depth + 1))
    }

    /// The flat place of each port of a page that stands for a transition.
    fn sockets(
        &self,
        page: usize,
        places: &[usize],
        sub: usize,
        pairs: &[(String, String)],
        place: &Where,
    ) -> Result<HashMap<String, usize>> {
        let (outer, inner) = (&self.net.pages[page], &self.net.pages[sub]);
        let mut found = HashMap::new();
        for (a, b) in pairs {
            let find = |id: &String| outer.places.iter().position(|place| place.id == *id);
            let (port, socket) = match (find(b), find(a)) {
                (Some(socket), _) => (a, socket),
                (None, Some(socket)) => (b, socket),
                (None, None) => {
                    let message = format!("the socket `{b}` of port `{a}` is no place of its page");
                    return Err(Error::Net { place: place.clone(), message });
                }
            };
            let Some(known) = inner.places.iter().find(|place| place.id == *port) else {
                let message = format!("the port `{port}` is no place of page `{}`", inner.name);
                return Err(Error::Net { place: place.clone(), message });
            };
            if known.port.is_none() {
                let message = format!(
                    "the place `{}` of page `{}` is assigned, but is no port",
                    known.name, inner.name
                );
                return Err(Error::Net { place: place.clone(), message });
            }
            found.insert(port.clone(), places[socket]);
        }
        match inner.places.iter().find(|place| place.port.is_some() && !found.contains_key(&place.id)) {
            None => Ok(found),
            Some(port) => {
                let message =
                    format!("the port `{}` of page `{}` has no socket; assign one", port.name, inner.name);
                Err(Error::Net { place: place.clone(), message })
            }
        }
    }

    /// Gives the place of a fusion set the initial marking of a member; fails where two members have different ones.
    fn mark(&mut self, known: usize, page: usize, node: usize) -> Result<()> {
        let drawn = |(page, node): (usize, usize)| &self.net.pages[page].places[node];
        let (first, second) = (drawn(self.flat.initials[known]), drawn((page, node)));
        if second.initial.trim().is_empty() || is_same(&first.initial, &second.initial) {
            return Ok(());
        }
        if first.initial.trim().is_empty() {
            self.flat.initials[known] = (page, node);
            return Ok(());
        }
        let message = format!(
            "its initial marking differs from that of `{}`, which is the same place; remove one of them",
            first.name
        );
        Err(Error::Net { place: self.place_of(page, node), message })
    }

    /// Fails where two places that are one have different colour sets.
    fn agree(&self, known: usize, page: usize, node: usize) -> Result<()> {
        let at = self.flat.places[known];
        let first = &self.net.pages[at.page].places[at.node];
        let second = &self.net.pages[page].places[node];
        if first.colset_name() == second.colset_name() {
            return Ok(());
        }
        let message = format!(
            "its colour set is {}, and that of `{}`, which is the same place, is {}",
            second.colset_name(),
            first.name,
            first.colset_name()
        );
        Err(Error::Net { place: self.place_of(page, node), message })
    }
}

/// True if two inscriptions differ in blanks and comments at most.
fn is_same(a: &str, b: &str) -> bool {
    let words = |text| lexemes(text).map(|all| all.into_iter().map(|(lexeme, _)| lexeme).collect::<Vec<_>>());
    a == b || words(a).is_ok_and(|a| words(b).is_ok_and(|b| a == b))
}
