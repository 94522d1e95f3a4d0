//! Runs a net: occurrences one after the other, in the order of time and priority, at random where several are enabled.
//!
//! Which transition occurs next is drawn from those that may be enabled, evenly; one that turns out not to be is set aside until one of its
//! places changes. Its binding is the first one that a search finds which begins at a random token of each place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::bindings::{Given, Mode, Picks, Search};
use crate::error::{Error, Result, Where};
use crate::marking::Tokens;
use crate::ml::machine::{Evaluated, Fault, Machine, State};
use crate::ml::program::TimeKind;
use crate::model::Model;
use crate::monitors::Watching;
use crate::value::{Multiset, Stamp, Tokens as Held, Value, When};

/// How often the caller is asked whether to go on.
const ASK: u64 = 4096;

/// When a run ends.
#[derive(Clone, Debug)]
pub struct Limits {
    /// No occurrence after this model time.
    pub until: Option<Stamp>,
    /// At most so many occurrences.
    pub steps: Option<u64>,
    /// So many occurrences at one model time are an endless loop; timed nets only.
    pub steps_at_one_time: u64,
    /// Ends when this place has at least so many tokens.
    pub when: Vec<(usize, u64)>,
    /// Ends before the first occurrence of one of these transitions.
    pub breakpoints: Vec<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            until: None,
            steps: None,
            steps_at_one_time: 10_000_000,
            when: Vec::new(),
            breakpoints: Vec::new(),
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// No transition is enabled, now or later.
    Dead,
    /// At the time that was given.
    Time,
    /// After so many occurrences.
    Steps,
    /// A place has as many tokens as was asked for.
    Marking,
    /// At a breakpoint: number of the transition.
    Breakpoint(usize),
    /// As a monitor says: its number.
    Monitor(usize),
}

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
    waiting: BinaryHeap<Reverse<Waiting>>,
    next_waiting: u64,
    /// How many tokens of each place are not ready yet.
    later: Vec<u64>,
    /// Transitions that may be enabled, by priority.
    levels: Vec<Level>,
    /// Where each transition is in its level; none if it is set aside.
    at: Vec<Option<u32>>,
    level_of: Vec<u32>,
    volatile: Vec<u32>,
    /// Occurrences of each transition.
    pub counts: Vec<u64>,
    /// Occurrences in all.
    pub steps: u64,
    at_one_time: u64,
    picks: Picks,
    /// Monitors, if they are asked for.
    watching: Option<Box<Watching>>,
}

#[derive(Clone, Debug)]
struct Level {
    candidates: Vec<u32>,
}

/// A token that is not ready yet.
#[derive(Clone, Debug)]
struct Waiting {
    stamp: Stamp,
    number: u64,
    place: u32,
    count: u64,
    value: Value,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.stamp, self.number) == (other.stamp, other.number)
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.stamp, self.number).cmp(&(other.stamp, other.number))
    }
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
        let mut simulator = Self {
            state: State::new(&model.program, seed),
            tokens: model.places.iter().map(|place| Tokens::new(&place.indexed)).collect(),
            waiting: BinaryHeap::new(),
            next_waiting: 0,
            later: vec![0; model.places.len()],
            levels: vec![Level { candidates: Vec::new() }; priorities.len()],
            at: vec![None; model.transitions.len()],
            level_of,
            volatile: numbers.clone().filter(|&of| model.transitions[of as usize].is_volatile).collect(),
            counts: vec![0; model.transitions.len()],
            steps: 0,
            at_one_time: 0,
            picks: Picks::new(),
            watching: None,
            model,
        };
        numbers.for_each(|transition| simulator.may_be_enabled(transition));
        let model = simulator.model.clone();
        for (place, of) in model.places.iter().enumerate() {
            let mut given = Vec::new();
            simulator.state.enter(0);
            let mut machine = Machine { program: &model.program, state: &mut simulator.state };
            let found = machine.given(&of.initial, When::NOW, &mut |tokens| {
                given.push(tokens);
                Ok(())
            });
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
        for Reverse(waiting) in self.waiting.iter().filter(|waiting| waiting.0.place as usize == place) {
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

    /// Lets the monitors of the net look from now on; they have looked at nothing before.
    ///
    /// # Errors
    ///
    /// `Run` for a function of a monitor that fails.
    pub fn watch(&mut self) -> Result<()> {
        if self.model.monitors.is_empty() {
            return Ok(());
        }
        let mut watching = Box::new(Watching::new(&self.model));
        watching.begin(self)?;
        self.watching = Some(watching);
        Ok(())
    }

    /// What monitors have seen until now: the last values have lasted until the model time. None if they were not asked for.
    ///
    /// # Errors
    ///
    /// `Run` for a function of a monitor that fails.
    pub fn watched(&mut self) -> Result<Option<Watching>> {
        let Some(mut watched) = self.watching.as_deref().cloned() else { return Ok(None) };
        watched.end(self)?;
        Ok(Some(watched))
    }

    fn look(&mut self, occurrence: &Occurrence) -> Result<Option<usize>> {
        let Some(mut watching) = self.watching.take() else { return Ok(None) };
        let ends = watching.look(self, occurrence.transition, &occurrence.binding);
        self.watching = Some(watching);
        ends
    }

    /// True if a transition is enabled now; draws no random number.
    ///
    /// # Errors
    ///
    /// `Run` for an inscription that fails.
    pub fn is_enabled(&mut self, transition: usize) -> Result<bool> {
        let model = self.model.clone();
        self.bind(&model, transition, Mode::Ready)
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

    /// Runs until a limit; `ask` is called now and then, and stops the run by saying true.
    ///
    /// # Errors
    ///
    /// `Run` for an inscription that fails and for an endless loop at one time, `Interrupted` if `ask` says so.
    pub fn run(
        &mut self,
        limits: &Limits,
        mut ask: impl FnMut(&Self) -> bool,
        mut seen: impl FnMut(&Self, &Occurrence),
        is_seen: bool,
    ) -> Result<Ended> {
        loop {
            if limits.when.iter().any(|&(place, count)| self.size(place) >= count) {
                return Ok(Ended::Marking);
            }
            if limits.steps.is_some_and(|steps| self.steps >= steps) {
                return Ok(Ended::Steps);
            }
            let Some(transition) = self.next_enabled(limits.until)? else {
                let is_late = limits.until.is_some() && !self.waiting.is_empty();
                return Ok(if is_late { Ended::Time } else { Ended::Dead });
            };
            if limits.breakpoints.contains(&transition) {
                return Ok(Ended::Breakpoint(transition));
            }
            self.at_one_time += 1;
            if self.at_one_time > limits.steps_at_one_time && self.model.is_timed {
                return Err(self.endless(limits.steps_at_one_time, transition));
            }
            if is_seen || self.watching.is_some() {
                let occurrence = self.occur(transition)?;
                if is_seen {
                    seen(self, &occurrence);
                }
                if let Some(monitor) = self.look(&occurrence)? {
                    return Ok(Ended::Monitor(monitor));
                }
            } else {
                self.fire(transition)?;
            }
            if self.steps.is_multiple_of(ASK) && ask(self) {
                return Err(Error::Interrupted);
            }
        }
    }

    /// The transition that occurs next, with its binding in the frame; time goes on if that is needed. None if the net is dead, or time
    /// would pass `until`.
    pub fn next_enabled(&mut self, until: Option<Stamp>) -> Result<Option<usize>> {
        let model = self.model.clone();
        for &transition in &self.volatile.clone() {
            self.may_be_enabled(transition);
        }
        loop {
            for level in 0..self.levels.len() {
                while !self.levels[level].candidates.is_empty() {
                    let among = self.levels[level].candidates.len() as u64;
                    let drawn = if among == 1 { 0 } else { self.state.draws.below(among) };
                    let transition = self.levels[level].candidates[drawn as usize];
                    if self.bind(&model, transition as usize, Mode::Random)? {
                        return Ok(Some(transition as usize));
                    }
                    self.set_aside(transition);
                }
            }
            if !self.advance(&model, until)? {
                return Ok(None);
            }
        }
    }

    /// The binding elements that are enabled; time goes on to the first ones if there are none now.
    ///
    /// # Errors
    ///
    /// `Run` for an inscription that fails.
    pub fn enabled(&mut self) -> Result<Vec<(usize, Vec<Value>)>> {
        let Some(first) = self.next_enabled(None)? else { return Ok(Vec::new()) };
        let model = self.model.clone();
        let level = self.level_of[first];
        let mut found = Vec::new();
        let same: Vec<usize> =
            (0..model.transitions.len()).filter(|&number| self.level_of[number] == level).collect();
        for number in same {
            self.bindings(&model, number, &mut |binding, _| found.push((number, binding)))?;
        }
        Ok(found)
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
        let occurrence = self.occur(number)?;
        self.look(&occurrence)?;
        Ok(true)
    }

    /// Calls `found` for each binding of a transition that is enabled now; the same binding only once.
    fn bindings(
        &mut self,
        model: &Model,
        number: usize,
        found: &mut dyn FnMut(Vec<Value>, &Picks),
    ) -> Result<()> {
        let transition = &model.transitions[number];
        if transition.inhibitors.iter().any(|&place| self.is_marked(place as usize)) {
            return Ok(());
        }
        let machine = Machine { program: &model.program, state: &mut self.state };
        let mut search = Search::new(transition, &self.tokens, Mode::Ready, machine);
        let mut known: Vec<Vec<Value>> = Vec::new();
        let searched = search.run(&mut |search| {
            let binding = search.machine.state.stack[..transition.variables.len()].to_vec();
            if !known.contains(&binding) {
                known.push(binding.clone());
                found(binding, &search.picks);
            }
            Ok(ControlFlow::Continue(()))
        });
        searched.map(drop).map_err(|fault| self.failed(number, &fault))
    }

    /// Finds a binding of a transition, and leaves it in the frame.
    fn bind(&mut self, model: &Model, number: usize, mode: Mode) -> Result<bool> {
        let transition = &model.transitions[number];
        if transition.inhibitors.iter().any(|&place| self.is_marked(place as usize)) {
            return Ok(false);
        }
        self.picks.clear();
        let machine = Machine { program: &model.program, state: &mut self.state };
        let mut search = Search::new(transition, &self.tokens, mode, machine);
        search.picks = std::mem::take(&mut self.picks);
        let found = search.run(&mut |_| Ok(ControlFlow::Break(())));
        self.picks = std::mem::take(&mut search.picks);
        found.map_err(|fault| self.failed(number, &fault))
    }

    fn is_marked(&self, place: usize) -> bool {
        self.size(place) > 0
    }

    /// Lets time go on to the next tokens that become ready; false if there are none, or they are too late.
    fn advance(&mut self, model: &Model, until: Option<Stamp>) -> Result<bool> {
        let early = self.earliest_early(model)?;
        let next = self.waiting.peek().map(|waiting| waiting.0.stamp);
        let Some(next) = next.into_iter().chain(early).min() else { return Ok(false) };
        if until.is_some_and(|until| next > until) {
            return Ok(false);
        }
        if next > self.state.now {
            self.at_one_time = 0;
        }
        self.state.now = self.state.now.max(next);
        while self.waiting.peek().is_some_and(|waiting| waiting.0.stamp <= self.state.now) {
            let Reverse(token) = self.waiting.pop().expect("it was just looked at");
            self.later[token.place as usize] -= token.count;
            self.tokens[token.place as usize].add(token.value, Some(token.stamp), token.count);
            for &transition in &model.places[token.place as usize].consumers {
                self.may_be_enabled(transition);
            }
        }
        for (number, transition) in (0..).zip(&model.transitions) {
            if transition.is_volatile || transition.is_early {
                self.may_be_enabled(number);
            }
        }
        Ok(true)
    }

    /// When the first transition that takes tokens before they are ready becomes enabled.
    fn earliest_early(&mut self, model: &Model) -> Result<Option<Stamp>> {
        let mut earliest = None;
        for (number, transition) in model.transitions.iter().enumerate() {
            if !transition.is_early {
                continue;
            }
            let machine = Machine { program: &model.program, state: &mut self.state };
            let mut search = Search::new(transition, &self.tokens, Mode::Any, machine);
            let found = search.run(&mut |search| {
                let ready = search.ready_at();
                earliest = Some(earliest.map_or(ready, |known: Stamp| known.min(ready)));
                Ok(ControlFlow::Continue(()))
            });
            found.map_err(|fault| self.failed(number, &fault))?;
        }
        Ok(earliest.filter(|&ready| ready > self.state.now))
    }

    /// Lets a transition occur with the binding in the frame, and says which one that was.
    pub fn occur(&mut self, number: usize) -> Result<Occurrence> {
        let variables = self.model.transitions[number].variables.len();
        self.fire(number)?;
        let binding = self.state.stack[..variables].to_vec();
        Ok(Occurrence { transition: number, time: self.state.now, binding })
    }

    fn fire(&mut self, number: usize) -> Result<()> {
        let model = self.model.clone();
        self.fire_in(&model, number).map_err(|fault| self.failed(number, &fault))?;
        self.steps += 1;
        self.counts[number] += 1;
        Ok(())
    }

    fn fire_in(&mut self, model: &Model, number: usize) -> Evaluated<()> {
        let transition = &model.transitions[number];
        self.remove_picks(model, transition.shares);
        for &place in &transition.resets {
            self.tokens[place as usize].clear();
            self.waiting.retain(|waiting| waiting.0.place != place);
            self.later[place as usize] = 0;
            self.emptied(model, place as usize);
        }
        let mut given = smallvec::SmallVec::<[_; 4]>::new();
        Machine { program: &model.program, state: &mut self.state }.produce(
            transition,
            &mut |place, tokens| {
                given.push((place, tokens));
                Ok(())
            },
        )?;
        for (place, tokens) in given {
            self.add(model, place as usize, tokens)?;
        }
        Ok(())
    }

    fn remove_picks(&mut self, model: &Model, shares: bool) {
        let mut picks = std::mem::take(&mut self.picks);
        if shares {
            // Entries move when one becomes empty: the last ones go first.
            picks.sort_by_key(|pick| Reverse((pick.place, pick.entry)));
        }
        for pick in &picks {
            if pick.count == 0 {
                continue;
            }
            self.tokens[pick.place as usize].remove(pick.entry as usize, pick.count);
            self.emptied(model, pick.place as usize);
        }
        self.picks = picks;
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
            self.next_waiting += 1;
            self.later[place] += count;
            let waiting = Waiting { stamp, number: self.next_waiting, place: place as u32, count, value };
            self.waiting.push(Reverse(waiting));
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

    fn failed(&self, transition: usize, fault: &Fault) -> Error {
        let at = &self.model.flat.transitions[transition].at;
        let page = &self.model.net.pages[at.page];
        let element = format!("transition `{}`", page.transitions[at.node].name);
        self.failed_at(Where::element(&self.model.net.name, &page.name, element), fault)
    }

    fn failed_at_place(&self, place: usize, fault: &Fault) -> Error {
        let at = &self.model.flat.places[place];
        let page = &self.model.net.pages[at.page];
        let element = format!("place `{}`", page.places[at.node].name);
        self.failed_at(Where::element(&self.model.net.name, &page.name, element), fault)
    }

    pub(crate) fn failed_in_monitor(&self, name: &str, fault: &Fault) -> Error {
        self.failed_at(Where::monitor(&self.model.net.name, name), fault)
    }

    fn failed_at(&self, place: Where, fault: &Fault) -> Error {
        let time = self.model.program.time_shown(self.state.now);
        Error::Run { place, time, message: fault.message.clone() }
    }

    fn endless(&self, limit: u64, transition: usize) -> Error {
        let at = &self.model.flat.transitions[transition].at;
        let page = &self.model.net.pages[at.page];
        let element = format!("transition `{}`", page.transitions[at.node].name);
        Error::Run {
            place: Where::element(&self.model.net.name, &page.name, element),
            time: self.model.program.time_shown(self.state.now),
            message: format!(
                "{limit} occurrences without any time between them; this loop never lets time go on"
            ),
        }
    }
}
