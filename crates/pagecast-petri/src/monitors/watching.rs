//! Lets monitors look during a run, and keeps their values and texts.

use super::{Call, Functions, Kind, Monitor, Statistics};
use crate::error::Result;
use crate::ml::library::exceptions;
use crate::ml::machine::Machine;
use crate::model::Model;
use crate::simulator::Simulator;
use crate::value::Value;

/// The values and the text of a monitor.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The values that it has measured.
    pub statistics: Statistics,
    /// The text of a write-in-file monitor.
    pub text: String,
}

/// The monitors of a run.
#[derive(Clone, Debug)]
pub struct Watching {
    /// The values and the text of each monitor.
    pub seen: Vec<Seen>,
    /// The monitors that look after an occurrence of each transition, with the place of the transition among theirs.
    after: Vec<Vec<(u32, u32)>>,
}

impl Watching {
    /// The monitors of a net, which have seen nothing.
    pub fn new(model: &Model) -> Self {
        let mut after = vec![Vec::new(); model.transitions.len()];
        for (number, monitor) in (0..).zip(&model.monitors) {
            for (at, &transition) in (0..).zip(&monitor.after) {
                after[transition as usize].push((number, at));
            }
        }
        let seen =
            |monitor: &Monitor| Seen { statistics: Statistics::new(monitor.is_timed), text: String::new() };
        Self { seen: model.monitors.iter().map(seen).collect(), after }
    }

    /// Looks before the first occurrence.
    ///
    /// # Errors
    ///
    /// `Run` for a function that fails.
    pub fn begin(&mut self, net: &mut Simulator) -> Result<()> {
        let model = net.model().clone();
        for (number, monitor) in model.monitors.iter().enumerate() {
            match &monitor.kind {
                Kind::MarkingSize(place) => self.measure(number, net.size(*place as usize), net),
                Kind::ListLength(place) => self.measure(number, net.lengths(*place as usize), net),
                Kind::Data(of) | Kind::Write(of) => self.say(number, of.init.as_ref(), of, net)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks at the end: the last values have lasted until now.
    ///
    /// # Errors
    ///
    /// `Run` for a function that fails.
    pub fn end(&mut self, net: &mut Simulator) -> Result<()> {
        let model = net.model().clone();
        for (number, monitor) in model.monitors.iter().enumerate() {
            if let Kind::Data(of) | Kind::Write(of) = &monitor.kind {
                self.say(number, of.stop.as_ref(), of, net)?;
            }
            self.seen[number].statistics.until(net.time());
        }
        Ok(())
    }

    /// Looks after an occurrence; `binding` has the values of the transition's variables. Gives the monitor that ends the run, if one does.
    ///
    /// # Errors
    ///
    /// `Run` for a function that fails.
    pub fn look(
        &mut self,
        net: &mut Simulator,
        transition: usize,
        binding: &[Value],
    ) -> Result<Option<usize>> {
        let model = net.model().clone();
        let mut ends = None;
        for at in 0..self.after[transition].len() {
            let (number, place) = self.after[transition][at];
            let number = number as usize;
            let kind = &model.monitors[number].kind;
            let is_over = match kind {
                Kind::MarkingSize(place) => {
                    self.measure(number, net.size(*place as usize), net);
                    false
                }
                Kind::ListLength(place) => {
                    self.measure(number, net.lengths(*place as usize), net);
                    false
                }
                Kind::Count => {
                    self.measure(number, 1, net);
                    false
                }
                Kind::Contents(place, is_empty) => (net.size(*place as usize) == 0) == *is_empty,
                Kind::Enabled(transition) => net.is_enabled(*transition as usize)?,
                Kind::Data(of) | Kind::Write(of) | Kind::Breakpoint(of) => {
                    let (predicate, observer) = &of.after[place as usize];
                    let holds = matches!(call(number, predicate, of, binding, net)?, Value::Bool(true));
                    if let (true, Some(observer)) = (holds, observer) {
                        let said = call(number, observer, of, binding, net)?;
                        self.note(number, &said, net.time());
                    }
                    holds && matches!(kind, Kind::Breakpoint(_))
                }
            };
            if is_over && ends.is_none() {
                ends = Some(number);
            }
        }
        Ok(ends)
    }

    fn measure(&mut self, number: usize, value: u64, net: &Simulator) {
        self.seen[number].statistics.add(value as f64, net.time());
    }

    fn say(&mut self, number: usize, what: Option<&Call>, of: &Functions, net: &mut Simulator) -> Result<()> {
        if let Some(what) = what {
            let said = call(number, what, of, &[], net)?;
            self.note(number, &said, net.time());
        }
        Ok(())
    }

    fn note(&mut self, number: usize, said: &Value, now: f64) {
        let seen = &mut self.seen[number];
        match said {
            Value::Int(value) => seen.statistics.add(*value as f64, now),
            Value::Real(value) => seen.statistics.add(*value, now),
            Value::Str(text) => seen.text.push_str(text),
            Value::Apply(symbol, value) if *symbol == exceptions::SOME => self.note(number, value, now),
            _ => {}
        }
    }
}

/// Calls a function of a monitor.
fn call(
    number: usize,
    of: &Call,
    functions: &Functions,
    binding: &[Value],
    net: &mut Simulator,
) -> Result<Value> {
    let marking = |&place: &u32| Value::Ms(net.marking(place as usize).into());
    let marks: Vec<Value> = functions.places.iter().map(marking).collect();
    let model = net.model().clone();
    let state = net.state_mut();
    state.enter(of.slots);
    for (slot, value) in binding.iter().chain(&marks).enumerate() {
        state.stack[slot] = value.clone();
    }
    let value = Machine { program: &model.program, state }.eval(&of.code, 0);
    value.map_err(|fault| net.failed_in_monitor(&model.monitors[number].name, &fault))
}
