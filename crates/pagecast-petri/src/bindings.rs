//! Searches the bindings of a transition in a marking.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::marking::{Entry, Tokens};
use crate::ml::code::Match;
use crate::ml::library::exceptions;
use crate::ml::machine::{Evaluated, Fault, Machine, list_of};
use crate::ml::program::TimeKind;
use crate::model::{Count, Find, Output, Place, Step, Take, Transition};
use crate::value::{Stamp, Value, When};

/// Tokens of one colour that a binding takes.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The place.
    pub place: u32,
    /// The entry of the colour.
    pub entry: u32,
    /// How many tokens.
    pub count: u64,
    /// How long before they are ready.
    pub early: Stamp,
}

impl Pick {
    fn is_of_colour(&self, other: &Self) -> bool {
        (self.place, self.entry) == (other.place, other.entry)
    }
}

/// The tokens of a binding, as far as a search has gone.
pub type Picks = Vec<Pick>;

/// A token, or several equal ones, that an inscription gives.
pub struct Given {
    /// The colour.
    pub value: Value,
    /// When they are ready.
    pub when: When,
    /// How many.
    pub count: u64,
}

/// Which tokens a search looks at, and where it begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Ready tokens, from a random one on.
    Random,
    /// Ready tokens, in their order.
    Ready,
    /// Also tokens that are not ready yet, in their order.
    Any,
}

/// An end of a search before all bindings are tried.
enum End {
    /// The caller has found enough.
    Enough,
    /// An inscription failed.
    Fault(Box<Fault>),
}

impl From<Box<Fault>> for End {
    fn from(fault: Box<Fault>) -> Self {
        Self::Fault(fault)
    }
}

type Searched = Result<(), End>;

/// Searches the bindings of one transition.
pub struct Search<'a, 'm> {
    /// The transition.
    pub transition: &'a Transition,
    /// The tokens of all places.
    pub tokens: &'a [Tokens],
    /// Which tokens are looked at.
    pub mode: Mode,
    /// Tokens that are taken so far.
    pub picks: &'m mut Picks,
    /// Runs the inscriptions; the variables are its first slots.
    pub machine: Machine<'m>,
}

impl<'a, 'm> Search<'a, 'm> {
    /// A search that has taken nothing.
    pub fn new(
        transition: &'a Transition,
        tokens: &'a [Tokens],
        mode: Mode,
        picks: &'m mut Picks,
        machine: Machine<'m>,
    ) -> Self {
        picks.clear();
        Self { transition, tokens, mode, picks, machine }
    }

    /// Calls `found` for each binding, until it says that this is enough. True if it said so.
    pub fn run(&mut self, mut found: impl FnMut(&mut Self) -> ControlFlow<()>) -> Evaluated<bool> {
        self.machine.state.enter(self.transition.slots);
        match self.step(0, &mut found) {
            Ok(()) => Ok(false),
            Err(End::Enough) => Ok(true),
            Err(End::Fault(fault)) => Err(fault),
        }
    }

    fn step(&mut self, number: usize, found: &mut impl FnMut(&mut Self) -> ControlFlow<()>) -> Searched {
        let transition = self.transition;
        match transition.steps.get(number) {
            None => match found(self) {
                ControlFlow::Break(()) => Err(End::Enough),
                ControlFlow::Continue(()) => Ok(()),
            },
            Some(Step::Guard(code)) => {
                if self.machine.is_true(code, 0)? {
                    self.step(number + 1, found)?;
                }
                Ok(())
            }
            Some(Step::Assign(slot, colset, code)) => {
                let value = self.machine.eval(code, 0)?;
                if !self.machine.program.contains(*colset, &value) {
                    return Ok(());
                }
                self.machine.state.stack[*slot as usize] = value;
                self.step(number + 1, found)
            }
            Some(Step::Try(slot, elements)) => {
                let start = self.start(elements.len());
                for at in 0..elements.len() {
                    let element = &elements[(start + at) % elements.len()];
                    self.machine.state.stack[*slot as usize] = element.clone();
                    self.step(number + 1, found)?;
                }
                Ok(())
            }
            Some(Step::Take(take)) => self.take(take, number, found),
            Some(Step::TakeAll { place, tokens, early }) => {
                let early = self.early(early)?;
                let mut given = SmallVec::<[Given; 4]>::new();
                self.machine.given(tokens, When::NOW, &mut |tokens| given.push(tokens))?;
                let before = self.picks.len();
                for tokens in given {
                    if tokens.when != When::NOW {
                        let text = "an input arc has a time stamp inside of it";
                        return Err(Fault::new(exceptions::DOMAIN, text).into());
                    }
                    let Some(entry) = self.tokens[*place as usize].find(&tokens.value) else {
                        self.picks.truncate(before);
                        return Ok(());
                    };
                    let pick = Pick { place: *place, entry: entry as u32, count: tokens.count, early };
                    if !self.has(&pick) {
                        self.picks.truncate(before);
                        return Ok(());
                    }
                    self.picks.push(pick);
                }
                self.step(number + 1, found)?;
                self.picks.truncate(before);
                Ok(())
            }
        }
    }

    /// Where to begin among so many.
    fn start(&mut self, among: usize) -> usize {
        if self.mode == Mode::Random && among > 1 {
            self.machine.state.draws.below(among as u64) as usize
        } else {
            0
        }
    }

    fn early(&mut self, code: &Option<crate::ml::code::Code>) -> Evaluated<Stamp> {
        match code {
            None => Ok(Stamp::ZERO),
            Some(code) => self.machine.eval_stamp(code),
        }
    }

    fn take(
        &mut self,
        take: &'a Take,
        number: usize,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Searched {
        let count = match &take.count {
            Count::Fixed(count) => *count,
            Count::Code(code) => match self.machine.eval(code, 0)? {
                Value::Int(count) if count >= 0 => count as u64,
                other => {
                    let shown = self.machine.program.shown(&other);
                    let text = format!("the coefficient {shown} is negative");
                    return Err(Fault::new(exceptions::SIZE, text).into());
                }
            },
        };
        let early = self.early(&take.early)?;
        let tokens = &self.tokens[take.place as usize];
        let pick = |entry: usize| Pick { place: take.place, entry: entry as u32, count, early };
        match &take.find {
            Find::Known(code) => {
                let value = self.machine.eval(code, 0)?;
                match tokens.find(&value) {
                    Some(entry) if self.has(&pick(entry)) => self.with(pick(entry), number, found),
                    None if count == 0 => self.step(number + 1, found),
                    _ => Ok(()),
                }
            }
            Find::Field(index, code) => {
                let value = self.machine.eval(code, 0)?;
                match tokens.with_field(*index, &value) {
                    Some(entries) => {
                        let start = self.start(entries.len());
                        for at in 0..entries.len() {
                            let entry = entries[(start + at) % entries.len()] as usize;
                            self.try_entry(take, pick(entry), number, found)?;
                        }
                        Ok(())
                    }
                    None => self.try_all(take, pick(0), number, found),
                }
            }
            Find::All => self.try_all(take, pick(0), number, found),
        }
    }

    /// Tries each colour of a place; `pick` says how many tokens of it, and when.
    fn try_all(
        &mut self,
        take: &'a Take,
        pick: Pick,
        number: usize,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Searched {
        let among = self.tokens[take.place as usize].entries().len();
        let start = self.start(among);
        for at in 0..among {
            let entry = if start + at < among { start + at } else { start + at - among };
            self.try_entry(take, Pick { entry: entry as u32, ..pick }, number, found)?;
        }
        Ok(())
    }

    fn try_entry(
        &mut self,
        take: &'a Take,
        pick: Pick,
        number: usize,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Searched {
        if !self.has(&pick) {
            return Ok(());
        }
        let value = &self.tokens[pick.place as usize].entries()[pick.entry as usize].value;
        let fits = match &take.pattern {
            Match::Bind(slot) => {
                self.machine.state.stack[*slot as usize] = value.clone();
                true
            }
            pattern => self.machine.matches(pattern, value, 0)?,
        };
        if fits { self.with(pick, number, found) } else { Ok(()) }
    }

    fn with(
        &mut self,
        pick: Pick,
        number: usize,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Searched {
        self.picks.push(pick);
        self.step(number + 1, found)?;
        self.picks.pop();
        Ok(())
    }

    /// True if a place has so many tokens of a colour beyond those that are taken already.
    fn has(&self, pick: &Pick) -> bool {
        let of = &self.tokens[pick.place as usize].entries()[pick.entry as usize];
        let wanted = if self.transition.shares { pick.count + self.taken(pick) } else { pick.count };
        match self.mode {
            Mode::Any => of.count >= wanted,
            _ => of.count >= wanted && of.ready(self.limit(pick.early)) >= wanted,
        }
    }

    /// The latest stamp of a token that may be taken now.
    fn limit(&self, early: Stamp) -> Stamp {
        let now = self.machine.state.now;
        if early == Stamp::ZERO { now } else { self.machine.later(now, early).unwrap_or(Stamp(i64::MAX)) }
    }

    /// How many tokens of the same colour are taken already.
    fn taken(&self, pick: &Pick) -> u64 {
        let same = self.picks.iter().filter(|other| other.is_of_colour(pick));
        same.map(|pick| pick.count).sum()
    }

    /// When all tokens of a binding are ready.
    pub fn ready_at(&self) -> Stamp {
        let mut ready = self.machine.state.now;
        for (number, pick) in self.picks.iter().enumerate() {
            let same = |other: &&Pick| other.is_of_colour(pick);
            let wanted = self.picks[..=number].iter().filter(same).map(|pick| pick.count).sum();
            let entry: &Entry = &self.tokens[pick.place as usize].entries()[pick.entry as usize];
            let at = entry.ready_at(wanted).expect("the tokens are there");
            ready = ready.max(self.machine.earlier(at, pick.early));
        }
        ready
    }
}

impl Machine<'_> {
    /// Runs the code segment of a transition, and calls `add` for the tokens that it gives to each place.
    pub fn produce(&mut self, transition: &Transition, mut add: impl FnMut(u32, Given)) -> Evaluated<()> {
        if let Some((code, result)) = &transition.action {
            let value = self.eval(code, 0)?;
            self.matches(result, &value, 0)?;
        }
        let delay = match &transition.delay {
            None => When::NOW,
            Some(code) => When::After(self.eval_stamp(code)?),
        };
        for (place, output) in &transition.outputs {
            self.given(output, delay, &mut |tokens| add(*place, tokens))?;
        }
        Ok(())
    }

    /// The time stamp of new tokens of a place, if it has stamps; fails for tokens that may not be there.
    pub fn token_stamp(&self, place: &Place, tokens: &Given) -> Evaluated<Option<Stamp>> {
        let colset = &self.program.colsets[place.colset];
        if colset.is_restricted && !self.program.contains(place.colset, &tokens.value) {
            let value = self.program.shown_in(place.colset, &tokens.value);
            let text = format!(
                "the token {value} is not in the colour set {} of place `{}`",
                colset.name, place.name
            );
            return Err(Fault::new(exceptions::DOMAIN, text));
        }
        match (place.is_timed, tokens.when) {
            (true, When::At(time)) => Ok(Some(time)),
            (true, When::After(delay)) => Ok(Some(self.later(self.state.now, delay)?)),
            (false, When::After(_)) => Ok(None),
            (false, When::At(_)) => {
                let text = format!(
                    "a token with a time stamp for place `{}`, whose colour set is not timed",
                    place.name
                );
                Err(Fault::new(exceptions::DOMAIN, text))
            }
        }
    }

    /// A time less a delay; not before 0.
    pub fn earlier(&self, time: Stamp, delay: Stamp) -> Stamp {
        if delay == Stamp::ZERO {
            return time;
        }
        match self.program.time {
            TimeKind::Integer => Stamp((time.0 - delay.0).max(0)),
            TimeKind::Real => Stamp::real((time.as_real() - delay.as_real()).max(0.0)),
        }
    }

    /// Calls `add` for the tokens that an inscription gives.
    pub fn given(&mut self, output: &Output, when: When, add: &mut impl FnMut(Given)) -> Evaluated<()> {
        match output {
            Output::Empty => {}
            Output::One(code) => add(Given { value: self.eval(code, 0)?, when, count: 1 }),
            Output::Many(count, code) => {
                let Value::Int(count) = self.eval(count, 0)? else {
                    unreachable!("a coefficient is an integer")
                };
                let Ok(count) = u64::try_from(count) else {
                    return Err(Fault::new(exceptions::SIZE, format!("the coefficient {count} is negative")));
                };
                if count > 0 {
                    add(Given { value: self.eval(code, 0)?, when, count });
                }
            }
            Output::Multiset(code, lists_are_colours) => match self.eval(code, 0)? {
                Value::Ms(multiset) => {
                    for tokens in &multiset.0 {
                        let when = self.combined(tokens.when, when)?;
                        add(Given { value: tokens.value.clone(), when, count: tokens.count });
                    }
                }
                Value::List(list) if !lists_are_colours => {
                    let list = list_of(Value::List(list))?;
                    for value in list.as_slice() {
                        add(Given { value: value.clone(), when, count: 1 });
                    }
                }
                value => add(Given { value, when, count: 1 }),
            },
            Output::Sum(terms) => terms.iter().try_for_each(|term| self.given(term, when, add))?,
            Output::If(condition, both) => {
                let at = usize::from(!self.is_true(condition, 0)?);
                self.given(&both[at], when, add)?;
            }
            Output::Delayed(of, delay) => {
                let delay = When::After(self.eval_stamp(delay)?);
                let when = self.combined(delay, when)?;
                self.given(of, when, add)?;
            }
            Output::Stamped(of, time) => {
                let when = When::At(self.eval_stamp(time)?);
                self.given(of, when, add)?;
            }
        }
        Ok(())
    }

    /// A stamp inside of another one: delays add up, and a time is the last word.
    fn combined(&self, inner: When, outer: When) -> Evaluated<When> {
        Ok(match (inner, outer) {
            (When::At(time), _) | (When::NOW, When::At(time)) => When::At(time),
            (When::After(a), When::After(b)) => When::After(self.later(a, b)?),
            (When::After(delay), When::At(time)) => When::At(self.later(time, delay)?),
        })
    }
}
