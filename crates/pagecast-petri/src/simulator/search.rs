//! Finds out which transitions are enabled, with which bindings, and lets time go on where none is.

use std::ops::ControlFlow;

use super::Simulator;
use crate::bindings::{Mode, Picks, Search};
use crate::error::Result;
use crate::ml::machine::Machine;
use crate::model::Model;
use crate::value::{Stamp, Value};

impl Simulator {
    /// The transition that occurs next, with its binding in the frame; time goes on if that is needed. None if the net is dead, or time
    /// would pass `until`.
    pub(super) fn next_enabled(&mut self, model: &Model, until: Option<Stamp>) -> Result<Option<usize>> {
        for at in 0..self.volatile.len() {
            self.may_be_enabled(self.volatile[at]);
        }
        loop {
            for level in 0..self.levels.len() {
                while !self.levels[level].candidates.is_empty() {
                    let among = self.levels[level].candidates.len() as u64;
                    let drawn = if among == 1 { 0 } else { self.state.draws.below(among) };
                    let transition = self.levels[level].candidates[drawn as usize];
                    if self.bind(model, transition as usize, Mode::Random)? {
                        return Ok(Some(transition as usize));
                    }
                    self.set_aside(transition);
                }
            }
            if !self.advance(model, until)? {
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
        let model = self.model.clone();
        let Some(first) = self.next_enabled(&model, None)? else { return Ok(Vec::new()) };
        let level = self.level_of[first];
        let mut found = Vec::new();
        let same: Vec<usize> =
            (0..model.transitions.len()).filter(|&number| self.level_of[number] == level).collect();
        for number in same {
            self.bindings(&model, number, &mut |binding, _| found.push((number, binding)))?;
        }
        Ok(found)
    }

    /// Calls `found` for each binding of a transition that is enabled now; the same binding only once.
    pub(super) fn bindings(
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
        let mut search = Search::new(transition, &self.tokens, Mode::Ready, &mut self.picks, machine);
        let mut known: Vec<Vec<Value>> = Vec::new();
        let searched = search.run(|search| {
            let binding = search.machine.state.stack[..transition.variables.len()].to_vec();
            if !known.contains(&binding) {
                known.push(binding.clone());
                found(binding, search.picks);
            }
            ControlFlow::Continue(())
        });
        searched.map(drop).map_err(|fault| self.failed(number, &fault))
    }

    /// Finds a binding of a transition, and leaves it in the frame.
    pub(super) fn bind(&mut self, model: &Model, number: usize, mode: Mode) -> Result<bool> {
        let transition = &model.transitions[number];
        if transition.inhibitors.iter().any(|&place| self.is_marked(place as usize)) {
            return Ok(false);
        }
        let machine = Machine { program: &model.program, state: &mut self.state };
        let mut search = Search::new(transition, &self.tokens, mode, &mut self.picks, machine);
        search.run(|_| ControlFlow::Break(())).map_err(|fault| self.failed(number, &fault))
    }

    pub(super) fn is_marked(&self, place: usize) -> bool {
        self.size(place) > 0
    }

    /// Lets time go on to the next tokens that become ready; false if there are none, or they are too late.
    pub(super) fn advance(&mut self, model: &Model, until: Option<Stamp>) -> Result<bool> {
        let early = self.earliest_early(model)?;
        let next = self.waiting.next();
        let Some(next) = next.into_iter().chain(early).min() else { return Ok(false) };
        if until.is_some_and(|until| next > until) {
            return Ok(false);
        }
        if next > self.state.now {
            self.at_one_time = 0;
        }
        self.state.now = self.state.now.max(next);
        while let Some(token) = self.waiting.pop(self.state.now) {
            self.later[token.place as usize] -= token.count;
            self.tokens[token.place as usize].add(token.value, Some(token.stamp), token.count);
            for &transition in &model.places[token.place as usize].consumers {
                self.may_be_enabled(transition);
            }
        }
        for at in 0..self.volatile.len() {
            self.may_be_enabled(self.volatile[at]);
        }
        for at in 0..self.early.len() {
            self.may_be_enabled(self.early[at]);
        }
        Ok(true)
    }

    /// When the first transition that takes tokens before they are ready becomes enabled.
    pub(super) fn earliest_early(&mut self, model: &Model) -> Result<Option<Stamp>> {
        let mut earliest = None;
        for &number in &self.early {
            let number = number as usize;
            let transition = &model.transitions[number];
            let machine = Machine { program: &model.program, state: &mut self.state };
            let mut search = Search::new(transition, &self.tokens, Mode::Any, &mut self.picks, machine);
            let found = search.run(|search| {
                let ready = search.ready_at();
                earliest = Some(earliest.map_or(ready, |known: Stamp| known.min(ready)));
                ControlFlow::Continue(())
            });
            found.map_err(|fault| self.failed(number, &fault))?;
        }
        Ok(earliest.filter(|&ready| ready > self.state.now))
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
}
