//! Runs a net: occurrences one after the other, in the order of time and priority, at random where several are enabled.
//!
//! Which transition occurs next is drawn from those that may be enabled, evenly; one that turns out not to be is set aside until one of its
//! places changes. Its binding is the first one that a search finds which begins at a random token of each place.

mod faults;
mod run;
mod search;
mod waiting;

use std::cmp::Reverse;
use std::sync::Arc;

use crate::bindings::{Given, Pick, Picks};
use crate::error::Result;
use crate::marking::Tokens;
use crate::ml::machine::{Evaluated, Machine, State};
use crate::ml::program::TimeKind;
use crate::model::{Model, Transition};
use crate::monitors::Watching;
use crate::value::{Multiset, Stamp, Tokens as Held, Value, When};

pub use run::{Ended, Limits};
use waiting::Queue;

/// An occurrence.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// Number of the transition.
    pub transition: usize,
    /// Model time.
    pub time: Stamp,
    /// Values of its variables.
    pub binding: Vec<Value>,
}

/// A net on its way.
pub struct Simulator {
    model: Arc<Model>,
    state: State,
    tokens: Vec<Tokens>,
    waiting: Queue,
    /// How many tokens of each place are not ready yet.
    later: Vec<u64>,
    /// Transitions that may be enabled, by priority.
    levels: Vec<Level>,
    /// Where each transition is in its level; none if it is set aside.
    at: Vec<Option<u32>>,
    level_of: Vec<u32>,
    /// Transitions whose inscriptions depend on more than their places: they may be enabled at any step.
    volatile: Vec<u32>,
    /// Transitions that take tokens before these are ready.
    early: Vec<u32>,
    /// Occurrences of each transition.
    pub counts: Vec<u64>,
    /// Occurrences in all.
    pub steps: u64,
    at_one_time: u64,
    picks: Picks,
    /// Tokens that an occurrence adds, by place; empty between occurrences.
    given: Vec<(u32, Given)>,
    /// Monitors, if they are asked for.
    watching: Option<Box<Watching>>,
}

#[derive(Clone, Debug)]
struct Level {
    candidates: Vec<u32>,
}

impl Simulator {
    /// A net in its initial marking.
    ///
    /// # Errors
    ///
    /// `Run` if an initial marking cannot be computed, or is outside of its colour set.
    pub fn new(model: Arc<Model>, seed: u64) -> Result<Self> {
        let mut priorities: Vec<i64> =
            model.transitions.iter().map(|transition| transition.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let level_of: Vec<u32> = model
            .transitions
            .iter()
            .map(|of| priorities.binary_search(&of.priority).expect("each priority is there") as u32)
            .collect();
        let numbers = 0..model.transitions.len() as u32;
        let those = |is: fn(&Transition) -> bool| {
            numbers.clone().filter(|&of| is(&model.transitions[of as usize])).collect()
        };
        let mut simulator = Self {
            state: State::new(&model.program, seed),
            tokens: model.places.iter().map(|place| Tokens::new(&place.indexed)).collect(),
            waiting: Queue::default(),
            later: vec![0; model.places.len()],
            levels: vec![Level { candidates: Vec::new() }; priorities.len()],
            at: vec![None; model.transitions.len()],
            level_of,
            volatile: those(|of| of.is_volatile),
            early: those(|of| of.is_early),
            counts: vec![0; model.transitions.len()],
            steps: 0,
            at_one_time: 0,
            picks: Picks::new(),
            given: Vec::new(),
            watching: None,
            model,
        };
        numbers.for_each(|transition| simulator.may_be_enabled(transition));
        let model = simulator.model.clone();
        for (place, of) in model.places.iter().enumerate() {
            let mut given = Vec::new();
            simulator.state.enter(of.slots);
            let mut machine = Machine { program: &model.program, state: &mut simulator.state };
            let found = machine.given(&of.initial, When::NOW, &mut |tokens| given.push(tokens));
            let added = found
                .and_then(|()| given.into_iter().try_for_each(|tokens| simulator.add(&model, place, tokens)));
            added.map_err(|fault| simulator.failed_at_place(place, &fault))?;
        }
        Ok(simulator)
    }

    /// The net.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The model time.
    pub fn now(&self) -> Stamp {
        self.state.now
    }

    /// The marking of a place: the tokens that are ready, and those that are not yet.
    pub fn marking(&self, place: usize) -> Multiset {
        let mut all: Vec<Held> = Vec::new();
        for entry in self.tokens[place].entries() {
            let value = entry.value.clone();
            if entry.stamps.is_empty() {
                all.push(Held { value, when: When::NOW, count: entry.count });
            } else {
                all.extend(entry.stamps.iter().map(|&(stamp, count)| Held {
                    value: value.clone(),
                    when: When::At(stamp),
                    count,
                }));
            }
        }
        for waiting in self.waiting.iter().filter(|waiting| waiting.place as usize == place) {
            all.push(Held {
                value: waiting.value.clone(),
                when: When::At(waiting.stamp),
                count: waiting.count,
            });
        }
        Multiset::collect(all)
    }

    /// How many tokens a place has, ready or not.
    pub fn size(&self, place: usize) -> u64 {
        self.tokens[place].len() + self.later[place]
    }

    /// How long the lists of a place are, in all.
    ///
    /// # Panics
    ///
    /// If its colours are no lists.
    pub fn lengths(&self, place: usize) -> u64 {
        let length = |tokens: &Held| match &tokens.value {
            Value::List(list) => list.len() as u64 * tokens.count,
            other => panic!("{other:?} is no list"),
        };
        self.marking(place).0.iter().map(length).sum()
    }

    /// The model time as a number.
    pub fn time(&self) -> f64 {
        match self.model.program.time {
            TimeKind::Integer => self.state.now.0 as f64,
            TimeKind::Real => self.state.now.as_real(),
        }
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Lets one of the binding elements occur that `enabled` gives; false if there are not so many.
    ///
    /// # Errors
    ///
    /// `Run` for an inscription that fails.
    pub fn occur_number(&mut self, wanted: usize) -> Result<bool> {
        let Some((number, _)) = self.enabled()?.get(wanted).cloned() else { return Ok(false) };
        let before = self.enabled()?.iter().take(wanted).filter(|(of, _)| *of == number).count();
        let model = self.model.clone();
        let mut all = Vec::new();
        self.bindings(&model, number, &mut |binding, picks| all.push((binding, picks.clone())))?;
        let (binding, picks) = all.swap_remove(before);
        self.state.enter(model.transitions[number].slots);
        self.state.stack[..binding.len()].clone_from_slice(&binding);
        self.picks = picks;
        let occurrence = self.occur(&model, number)?;
        self.look(&occurrence)?;
        Ok(true)
    }

    /// Lets a transition occur with the binding in the frame, and says which one that was.
    fn occur(&mut self, model: &Model, number: usize) -> Result<Occurrence> {
        self.fire(model, number)?;
        let variables = model.transitions[number].variables.len();
        let binding = self.state.stack[..variables].to_vec();
        Ok(Occurrence { transition: number, time: self.state.now, binding })
    }

    fn fire(&mut self, model: &Model, number: usize) -> Result<()> {
        self.fire_in(model, number).map_err(|fault| self.failed(number, &fault))?;
        self.steps += 1;
        self.state.steps = self.steps;
        self.counts[number] += 1;
        Ok(())
    }

    fn fire_in(&mut self, model: &Model, number: usize) -> Evaluated<()> {
        let transition = &model.transitions[number];
        self.remove_picks(model, transition.shares);
        for &place in &transition.resets {
            self.tokens[place as usize].clear();
            self.waiting.clear(place);
            self.later[place as usize] = 0;
            self.emptied(model, place as usize);
        }
        let mut given = std::mem::take(&mut self.given);
        Machine { program: &model.program, state: &mut self.state }
            .produce(transition, |place, tokens| given.push((place, tokens)))?;
        for (place, tokens) in given.drain(..) {
            self.add(model, place as usize, tokens)?;
        }
        self.given = given;
        Ok(())
    }

    fn remove_picks(&mut self, model: &Model, shares: bool) {
        if shares {
            // Entries move when one becomes empty: the last ones go first.
            self.picks.sort_by_key(|pick| Reverse((pick.place, pick.entry)));
        }
        for at in 0..self.picks.len() {
            let Pick { place, entry, count, .. } = self.picks[at];
            if count > 0 {
                self.tokens[place as usize].remove(entry as usize, count);
                self.emptied(model, place as usize);
            }
        }
    }

    /// Transitions that want a place to be empty may be enabled now.
    fn emptied(&mut self, model: &Model, place: usize) {
        for &transition in &model.places[place].inhibits {
            self.may_be_enabled(transition);
        }
    }

    fn add(&mut self, model: &Model, place: usize, tokens: Given) -> Evaluated<()> {
        let of = &model.places[place];
        let machine = Machine { program: &model.program, state: &mut self.state };
        let stamp = machine.token_stamp(of, &tokens)?;
        let Given { value, count, .. } = tokens;
        if let Some(stamp) = stamp.filter(|&stamp| stamp > self.state.now && !of.is_early) {
            self.later[place] += count;
            self.waiting.push(stamp, place as u32, count, value);
            return Ok(());
        }
        self.tokens[place].add(value, stamp, count);
        for &transition in &of.consumers {
            self.may_be_enabled(transition);
        }
        Ok(())
    }

    fn may_be_enabled(&mut self, transition: u32) {
        if self.at[transition as usize].is_none() {
            let candidates = &mut self.levels[self.level_of[transition as usize] as usize].candidates;
            self.at[transition as usize] = Some(candidates.len() as u32);
            candidates.push(transition);
        }
    }

    fn set_aside(&mut self, transition: u32) {
        let Some(at) = self.at[transition as usize].take() else { return };
        let candidates = &mut self.levels[self.level_of[transition as usize] as usize].candidates;
        candidates.swap_remove(at as usize);
        if let Some(&moved) = candidates.get(at as usize) {
            self.at[moved as usize] = Some(at);
        }
    }
}
