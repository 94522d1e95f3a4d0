//! A net that can run: inscriptions compiled, and for each transition the order in which its variables are bound.

mod compile;
mod impure;
mod inscriptions;
mod output;
mod plan;

use crate::flat::Flat;
use crate::ml::code::{Code, Match};
use crate::ml::program::Program;
use crate::monitors::Monitor;
use crate::net::Net;
use crate::value::Value;

pub use compile::compile;

/// A net that can run.
#[derive(Clone, Debug)]
pub struct Model {
    /// The net as it is drawn.
    pub net: Net,
    /// The net without pages.
    pub flat: Flat,
    /// Colour sets, functions and values.
    pub program: Program,
    /// Places, in the order of `flat`.
    pub places: Vec<Place>,
    /// Transitions, in the order of `flat`.
    pub transitions: Vec<Transition>,
    /// True if a colour set of a place is timed.
    pub is_timed: bool,
    /// Monitors, without those that are switched off.
    pub monitors: Vec<Monitor>,
}

/// A place.
#[derive(Clone, Debug)]
pub struct Place {
    /// Page, name and instance: `Page'Place 1`.
    pub name: String,
    /// Number of its colour set.
    pub colset: usize,
    /// True if its tokens have time stamps.
    pub is_timed: bool,
    /// Initial marking.
    pub initial: Output,
    /// How many slots the frame of its initial marking has.
    pub slots: usize,
    /// Fields of tokens by which an input arc looks for them.
    pub indexed: Vec<u32>,
    /// True if a transition takes tokens before they are ready: its tokens do not wait elsewhere.
    pub is_early: bool,
    /// Transitions that a token may enable.
    pub consumers: Vec<u32>,
    /// Transitions that its last token may disable.
    pub inhibits: Vec<u32>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Page, name and instance: `Page'Transition 1`.
    pub name: String,
    /// Small numbers go first.
    pub priority: i64,
    /// Variables, in the order of their slots.
    pub variables: Vec<Variable>,
    /// How many slots its frame has.
    pub slots: usize,
    /// How its variables are bound.
    pub steps: Vec<Step>,
    /// The tokens that it adds, by place.
    pub outputs: Vec<(u32, Output)>,
    /// Delay of all its output tokens.
    pub delay: Option<Code>,
    /// Code segment: the action, and the variables that take its result.
    pub action: Option<(Code, Match)>,
    /// Places that have to be empty.
    pub inhibitors: Vec<u32>,
    /// Places that become empty.
    pub resets: Vec<u32>,
    /// True if whether it is enabled depends on more than its places: the time, a reference, a random number.
    pub is_volatile: bool,
    /// True if an inscription draws a random number or uses a reference.
    pub is_random: bool,
    /// True if it takes tokens before they are ready.
    pub is_early: bool,
    /// True if it may take several colours of one place.
    pub shares: bool,
}

/// A variable of a transition.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Number of its colour set.
    pub colset: usize,
    /// True if a code segment gives it its value.
    pub is_output: bool,
}

/// A step of the search for a binding.
#[derive(Clone, Debug)]
pub enum Step {
    /// Takes tokens of one colour.
    Take(Take),
    /// Takes a multiset.
    TakeAll {
        /// The place.
        place: u32,
        /// The multiset.
        tokens: Output,
        /// How long before they are ready.
        early: Option<Code>,
    },
    /// Goes on if a condition holds.
    Guard(Code),
    /// Gives a variable a value, if it is in its colour set.
    Assign(u32, usize, Code),
    /// Tries each element of a colour set.
    Try(u32, std::sync::Arc<[Value]>),
}

/// Takes tokens of one colour.
#[derive(Clone, Debug)]
pub struct Take {
    /// The place.
    pub place: u32,
    /// How many.
    pub count: Count,
    /// The pattern that a colour must fit.
    pub pattern: Match,
    /// How they are found.
    pub find: Find,
    /// How long before they are ready.
    pub early: Option<Code>,
}

/// How many tokens.
#[derive(Clone, Debug)]
pub enum Count {
    /// A fixed number.
    Fixed(u64),
    /// A number that is computed.
    Code(Code),
}

/// How tokens are found.
#[derive(Clone, Debug)]
pub enum Find {
    /// The colour is known.
    Known(Code),
    /// A field of the colour is known: number of the index of the place.
    Field(usize, Code),
    /// All are tried.
    All,
}

/// Tokens that are added.
#[derive(Clone, Debug)]
pub enum Output {
    /// One token.
    One(Code),
    /// Several equal ones.
    Many(Code, Code),
    /// A multiset, or a colour; false if a list is a multiset.
    Multiset(Code, bool),
    /// All of these.
    Sum(Box<[Output]>),
    /// One of two.
    If(Code, Box<[Output; 2]>),
    /// Later.
    Delayed(Box<Output>, Code),
    /// At a time.
    Stamped(Box<Output>, Code),
    /// None.
    Empty,
}

impl Model {
    /// Number of the place of a name: `Page'Place 1`, or without instance or page where that is clear.
    pub fn place(&self, name: &str) -> Option<usize> {
        find(self.places.iter().map(|place| &*place.name), name)
    }

    /// Number of the transition of a name, as for places.
    pub fn transition(&self, name: &str) -> Option<usize> {
        find(self.transitions.iter().map(|transition| &*transition.name), name)
    }
}

fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    let base = |name: &'a str| name.rsplit_once(' ').map_or(name, |(base, _)| base);
    let only = |fits: &dyn Fn(&'a str) -> bool| {
        let mut found = names.clone().enumerate().filter(|(_, name)| fits(name));
        let first = found.next()?;
        found.next().is_none().then_some(first.0)
    };
    only(&|name| name == wanted)
        .or_else(|| only(&|name| base(name) == wanted))
        .or_else(|| only(&|name| base(name).split_once('\'').is_some_and(|(_, name)| name == wanted)))
}
