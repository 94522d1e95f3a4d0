//! Explores the state space of a net: every marking that can be reached, with every occurrence between them.
//!
//! Source: Jensen and Kristensen, *Coloured Petri Nets* (2009), chapters 7 to 9. A marking has its time stamps and its model time. Of equal
//! tokens with different stamps, each that may be taken is a choice of its own.

mod components;
mod report;

pub use report::{Bounds, Report};

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::bindings::{Mode, Picks, Search};
use crate::error::{Error, Result, Where};
use crate::marking::Tokens;
use crate::ml::machine::{Evaluated, Fault, Machine, State};
use crate::model::Model;
use crate::simulator::Simulator;
use crate::value::{Multiset, Stamp, Tokens as Held, Value, When};

/// How many ways one occurrence may take equal tokens with different stamps.
const MOST_CHOICES: usize = 10_000;

/// The state space of a net, or the part of it that was explored.
#[derive(Clone, Debug)]
pub struct Space {
    /// The net.
    pub model: Arc<Model>,
    /// Model time and marking of each node: for each place the number of its multiset.
    nodes: Vec<(Stamp, Box<[u32]>)>,
    multisets: Vec<Multiset>,
    /// Occurrences from each node.
    pub arcs: Vec<Vec<SpaceArc>>,
    /// The arc by which each node was found: node, and number of the arc there.
    parents: Vec<Option<(u32, u32)>>,
    /// False if there are nodes that were not explored.
    pub is_complete: bool,
}

/// An occurrence in a state space.
#[derive(Clone, Debug)]
pub struct SpaceArc {
    /// Number of the transition.
    pub transition: u32,
    /// The node that it leads to.
    pub target: u32,
    /// Values of the variables, in the order of the transition; those of a code segment as they were before it.
    pub binding: Box<[Value]>,
}

/// An enabled binding element, and what it takes.
struct Element {
    transition: usize,
    binding: Vec<Value>,
    picks: Picks,
    ready: Stamp,
}

/// The stamps that are taken of each pick.
type Choice = Vec<Vec<(Stamp, u64)>>;

impl Space {
    /// Explores a net from its initial marking, breadth first, up to so many nodes.
    ///
    /// # Errors
    ///
    /// `Net` for a net that draws random numbers, counts steps or has references, `Run` for an inscription that fails, `Interrupted` if `ask` says so.
    pub fn explore(model: Arc<Model>, most_nodes: usize, ask: impl FnMut() -> bool) -> Result<Self> {
        if let Some(random) = model.transitions.iter().position(|transition| transition.is_random) {
            let message =
                "it draws random numbers, counts steps or has references, so the net has no state space"
                    .to_owned();
            return Err(Error::Net { place: place_of(&model, random), message });
        }
        let initial = Simulator::new(model.clone(), 0)?;
        let mut explorer = Explorer::new(model);
        let first: Box<[u32]> =
            (0..explorer.model.places.len()).map(|place| explorer.number(initial.marking(place))).collect();
        explorer.node(Stamp::ZERO, first, None);
        explorer.explore(most_nodes, ask)?;
        Ok(explorer.space)
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True without nodes; never after `explore`.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The model time of a node.
    pub fn time(&self, node: usize) -> Stamp {
        self.nodes[node].0
    }

    /// The marking of a place in a node.
    pub fn marking(&self, node: usize, place: usize) -> &Multiset {
        &self.multisets[self.nodes[node].1[place] as usize]
    }

    /// The shortest way to a node: the arcs from the initial marking on.
    pub fn path(&self, node: usize) -> Vec<&SpaceArc> {
        let mut found = Vec::new();
        let mut at = node;
        while let Some((from, arc)) = self.parents[at] {
            found.push(&self.arcs[from as usize][arc as usize]);
            at = from as usize;
        }
        found.reverse();
        found
    }
}

struct Explorer {
    model: Arc<Model>,
    space: Space,
    known: FxHashMap<(Stamp, Box<[u32]>), u32>,
    numbers: FxHashMap<Multiset, u32>,
    state: State,
    /// The tokens of the node that is being expanded, and the numbers of their multisets.
    tokens: Vec<Tokens>,
    current: Vec<u32>,
    queue: VecDeque<u32>,
}

impl Explorer {
    fn new(model: Arc<Model>) -> Self {
        let space = Space {
            model: model.clone(),
            nodes: Vec::new(),
            multisets: Vec::new(),
            arcs: Vec::new(),
            parents: Vec::new(),
            is_complete: true,
        };
        Self {
            space,
            known: FxHashMap::default(),
            numbers: FxHashMap::default(),
            state: State::new(&model.program, 0),
            tokens: model.places.iter().map(|place| Tokens::new(&place.indexed)).collect(),
            current: vec![u32::MAX; model.places.len()],
            queue: VecDeque::new(),
            model,
        }
    }

    fn number(&mut self, multiset: Multiset) -> u32 {
        let next = self.space.multisets.len() as u32;
        *self.numbers.entry(multiset).or_insert_with_key(|multiset| {
            self.space.multisets.push(multiset.clone());
            next
        })
    }

    fn node(&mut self, time: Stamp, marking: Box<[u32]>, parent: Option<(u32, u32)>) -> u32 {
        let next = self.space.nodes.len() as u32;
        let node = (time, marking);
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        self.known.insert(node.clone(), next);
        self.space.nodes.push(node);
        self.space.arcs.push(Vec::new());
        self.space.parents.push(parent);
        self.queue.push_back(next);
        next
    }

    fn explore(&mut self, most_nodes: usize, mut ask: impl FnMut() -> bool) -> Result<()> {
        while let Some(node) = self.queue.pop_front() {
            if ask() {
                return Err(Error::Interrupted);
            }
            self.enter(node as usize);
            for element in self.enabled()? {
                for choice in self.choices(&element)? {
                    let (time, marking) = self.fire(&element, &choice)?;
                    let is_new = !self.known.contains_key(&(time, marking.clone()));
                    if is_new && self.space.nodes.len() >= most_nodes {
                        self.space.is_complete = false;
                        continue;
                    }
                    let arc = self.space.arcs[node as usize].len() as u32;
                    let target = self.node(time, marking, Some((node, arc)));
                    let binding = element.binding.clone().into();
                    let transition = element.transition as u32;
                    self.space.arcs[node as usize].push(SpaceArc { transition, target, binding });
                }
            }
        }
        Ok(())
    }

    /// Puts the tokens of a node into the places.
    fn enter(&mut self, node: usize) {
        let (time, marking) = &self.space.nodes[node];
        self.state.now = *time;
        for (place, &number) in marking.iter().enumerate() {
            if self.current[place] != number {
                self.current[place] = number;
                self.tokens[place].clear();
                for tokens in &self.space.multisets[number as usize].0 {
                    let stamp = match tokens.when {
                        When::At(stamp) => Some(stamp),
                        When::After(_) => None,
                    };
                    self.tokens[place].add(tokens.value.clone(), stamp, tokens.count);
                }
            }
        }
    }

    /// The binding elements that are enabled at the earliest time at which any is, of the most urgent priority.
    fn enabled(&mut self) -> Result<Vec<Element>> {
        let model = self.model.clone();
        let mut all: Vec<Element> = Vec::new();
        let mut picks = Picks::new();
        for (number, transition) in model.transitions.iter().enumerate() {
            if transition.inhibitors.iter().any(|&place| !self.tokens[place as usize].is_empty()) {
                continue;
            }
            let mut known: FxHashMap<Vec<Value>, usize> = FxHashMap::default();
            let machine = Machine { program: &model.program, state: &mut self.state };
            let mut search = Search::new(transition, &self.tokens, Mode::Any, &mut picks, machine);
            let searched = search.run(|search| {
                let stack = &search.machine.state.stack;
                let value = |(slot, variable): (usize, &crate::model::Variable)| {
                    if variable.is_output { Value::Unit } else { stack[slot].clone() }
                };
                let binding: Vec<Value> = transition.variables.iter().enumerate().map(value).collect();
                if !known.contains_key(&binding) {
                    known.insert(binding.clone(), all.len());
                    let (picks, ready) = (search.picks.clone(), search.ready_at());
                    all.push(Element { transition: number, binding, picks, ready });
                }
                ControlFlow::Continue(())
            });
            searched.map_err(|fault| self.failed(number, &fault))?;
        }
        let Some(earliest) = all.iter().map(|element| element.ready).min() else { return Ok(all) };
        all.retain(|element| element.ready == earliest);
        let priority = |element: &Element| model.transitions[element.transition].priority;
        let first = all.iter().map(priority).min().expect("there is one");
        all.retain(|element| priority(element) == first);
        Ok(all)
    }

    /// The ways in which a binding element can take its tokens.
    fn choices(&self, element: &Element) -> Result<Vec<Choice>> {
        let mut all: Vec<Choice> = vec![Vec::new()];
        let mut seen: Vec<(u32, u32)> = Vec::new();
        for pick in &element.picks {
            let entry = &self.tokens[pick.place as usize].entries()[pick.entry as usize];
            let key = (pick.place, pick.entry);
            let is_first = !seen.contains(&key);
            seen.push(key);
            let options = if entry.stamps.is_empty() || !is_first {
                vec![Vec::new()]
            } else {
                // Several terms may take tokens of one colour: their stamps are chosen together.
                let same = element.picks.iter().filter(|other| (other.place, other.entry) == key);
                let count = same.map(|other| other.count).sum();
                let limit = self.limit(element.ready, pick.early);
                let ready: Vec<_> =
                    entry.stamps.iter().copied().filter(|(stamp, _)| *stamp <= limit).collect();
                let mut options = Vec::new();
                combinations(&ready, count, &mut Vec::new(), &mut options);
                options
            };
            all = all
                .iter()
                .flat_map(|choice| {
                    options.iter().map(move |option| [&choice[..], std::slice::from_ref(option)].concat())
                })
                .collect();
            if all.len() > MOST_CHOICES {
                let message = format!(
                    "equal tokens with different stamps can be taken in more than {MOST_CHOICES} ways"
                );
                return Err(Error::Net { place: place_of(&self.model, element.transition), message });
            }
        }
        Ok(all)
    }

    fn limit(&self, now: Stamp, early: Stamp) -> Stamp {
        let mut state = self.state.clone();
        Machine { program: &self.model.program, state: &mut state }.later(now, early).unwrap_or(now)
    }

    /// The node that an occurrence leads to.
    fn fire(&mut self, element: &Element, choice: &Choice) -> Result<(Stamp, Box<[u32]>)> {
        let model = self.model.clone();
        let before = self.state.now;
        self.state.now = element.ready;
        let changed = self.changed(&model, element, choice);
        let time = if model.is_timed { element.ready } else { Stamp::ZERO };
        self.state.now = before;
        let changed = changed.map_err(|fault| self.failed(element.transition, &fault))?;
        let mut marking: Box<[u32]> = self.current.clone().into();
        for (place, tokens) in changed {
            marking[place as usize] = self.number(multiset(&tokens));
        }
        Ok((time, marking))
    }

    fn changed(
        &mut self,
        model: &Model,
        element: &Element,
        choice: &Choice,
    ) -> Evaluated<Vec<(u32, Tokens)>> {
        let transition = &model.transitions[element.transition];
        let mut changed: Vec<(u32, Tokens)> = Vec::new();
        let at = |changed: &mut Vec<(u32, Tokens)>, tokens: &[Tokens], place: u32| {
            changed.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
                changed.push((place, tokens[place as usize].clone()));
                changed.len() - 1
            })
        };
        for (pick, stamps) in element.picks.iter().zip(choice) {
            let value = self.tokens[pick.place as usize].entries()[pick.entry as usize].value.clone();
            let place = at(&mut changed, &self.tokens, pick.place);
            let tokens = &mut changed[place].1;
            if model.places[pick.place as usize].is_timed {
                if let (false, Some(entry)) = (stamps.is_empty(), tokens.find(&value)) {
                    tokens.remove_stamps(entry, stamps);
                }
            } else if let (true, Some(entry)) = (pick.count > 0, tokens.find(&value)) {
                tokens.remove(entry, pick.count);
            }
        }
        for &place in &transition.resets {
            let place = at(&mut changed, &self.tokens, place);
            changed[place].1.clear();
        }
        self.state.enter(transition.slots);
        self.state.stack[..element.binding.len()].clone_from_slice(&element.binding);
        let mut machine = Machine { program: &model.program, state: &mut self.state };
        let mut given = Vec::new();
        machine.produce(transition, |place, tokens| given.push((place, tokens)))?;
        for (place, tokens) in given {
            let stamp = machine.token_stamp(&model.places[place as usize], &tokens)?;
            let place = at(&mut changed, &self.tokens, place);
            changed[place].1.add(tokens.value, stamp, tokens.count);
        }
        Ok(changed)
    }

    fn failed(&self, transition: usize, fault: &Fault) -> Error {
        let time = self.model.program.time_shown(self.state.now);
        Error::Run { place: place_of(&self.model, transition), time, message: fault.message.clone() }
    }
}

/// The place of a transition in messages.
pub(crate) fn place_of(model: &Model, transition: usize) -> Where {
    let at = &model.flat.transitions[transition].at;
    let page = &model.net.pages[at.page];
    let element = format!("transition `{}`", page.transitions[at.node].name);
    Where::element(&model.net.name, &page.name, element)
}

fn multiset(tokens: &Tokens) -> Multiset {
    let mut all = Vec::new();
    for entry in tokens.entries() {
        if entry.stamps.is_empty() {
            all.push(Held { value: entry.value.clone(), when: When::NOW, count: entry.count });
        }
        for &(stamp, count) in &entry.stamps {
            all.push(Held { value: entry.value.clone(), when: When::At(stamp), count });
        }
    }
    Multiset::collect(all)
}

/// All ways to take so many tokens of some stamps.
fn combinations(
    stamps: &[(Stamp, u64)],
    count: u64,
    taken: &mut Vec<(Stamp, u64)>,
    found: &mut Vec<Vec<(Stamp, u64)>>,
) {
    if found.len() > MOST_CHOICES {
        return;
    }
    if count == 0 {
        found.push(taken.clone());
        return;
    }
    let Some((&(stamp, n), rest)) = stamps.split_first() else { return };
    for k in (0..=n.min(count)).rev() {
        if k > 0 {
            taken.push((stamp, k));
        }
        combinations(rest, count - k, taken, found);
        if k > 0 {
            taken.pop();
        }
    }
}
