//! Runs a net until a limit, with its monitors.

use super::{Occurrence, Simulator};
use crate::error::{Error, Result};
use crate::monitors::Watching;
use crate::value::Stamp;

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

impl Simulator {
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
        let model = self.model.clone();
        loop {
            if limits.when.iter().any(|&(place, count)| self.size(place) >= count) {
                return Ok(Ended::Marking);
            }
            if limits.steps.is_some_and(|steps| self.steps >= steps) {
                return Ok(Ended::Steps);
            }
            let Some(transition) = self.next_enabled(&model, limits.until)? else {
                let is_late = limits.until.is_some() && !self.waiting.is_empty();
                return Ok(if is_late { Ended::Time } else { Ended::Dead });
            };
            if limits.breakpoints.contains(&transition) {
                return Ok(Ended::Breakpoint(transition));
            }
            self.at_one_time += 1;
            if self.at_one_time > limits.steps_at_one_time && model.is_timed {
                return Err(self.endless(limits.steps_at_one_time, transition));
            }
            if is_seen || self.watching.is_some() {
                let occurrence = self.occur(&model, transition)?;
                if is_seen {
                    seen(self, &occurrence);
                }
                if let Some(monitor) = self.look(&occurrence)? {
                    return Ok(Ended::Monitor(monitor));
                }
            } else {
                self.fire(&model, transition)?;
            }
            if self.steps.is_multiple_of(ASK) && ask(self) {
                return Err(Error::Interrupted);
            }
        }
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

    /// The values and texts of the monitors until now: the last values have lasted until the model time. None if they were not asked for.
    ///
    /// # Errors
    ///
    /// `Run` for a function of a monitor that fails.
    pub fn watched(&mut self) -> Result<Option<Watching>> {
        let Some(mut watched) = self.watching.as_deref().cloned() else { return Ok(None) };
        watched.end(self)?;
        Ok(Some(watched))
    }

    pub(super) fn look(&mut self, occurrence: &Occurrence) -> Result<Option<usize>> {
        let Some(mut watching) = self.watching.take() else { return Ok(None) };
        let ends = watching.look(self, occurrence.transition, &occurrence.binding);
        self.watching = Some(watching);
        ends
    }
}
