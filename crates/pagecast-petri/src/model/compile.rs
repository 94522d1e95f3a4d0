//! Compiles a net: declarations, then places, then transitions.

use super::impure::Impure;
use super::inscriptions::{Segment, conditions, counted, delay, parsed, unit};
use super::output::{is_stamped, output};
use super::plan::{Inscriptions, Terms, plan};
use super::{Model, Output, Place, Step, Transition, Variable};
use crate::error::{Error, MlError, Result, Where};
use crate::flat::{FlatNode, FlatTransition, flatten};
use crate::ml::check::Checker;
use crate::ml::declarations::declarations;
use crate::ml::lower::Lowering;
use crate::ml::parser::expression;
use crate::ml::program::{Program, TimeKind, nearest};
use crate::ml::types::{Class, Type};
use crate::monitors;
use crate::net::{ArcKind, Net};
use crate::value::Value;

/// The priority of a transition that has none: `P_NORMAL` of CPN Tools.
const NORMAL: i64 = 1000;

/// Compiles a net.
///
/// # Errors
///
/// `Inscription` for CPN ML that cannot be understood, `Net` for pages that do not fit each other.
pub fn compile(net: &Net) -> Result<Model> {
    let mut program = Program::new(time_kind(net));
    let mut impure = Impure::new();
    standard_priorities(&mut program);
    for text in &net.declarations {
        declare(net, &mut program, &text.text, &mut impure)?;
    }
    let flat = flatten(net)?;
    let many = |page: usize| flat.drawn.iter().filter(|drawn| drawn.page == page).count();
    let instances: Vec<usize> = (0..net.pages.len()).map(many).collect();
    let mut compiler = Compiler { net, program: &program, impure: &impure, instances: &instances };
    let mut places = Vec::with_capacity(flat.places.len());
    for (at, &initial) in flat.places.iter().zip(&flat.initials) {
        places.push(compiler.place(at, initial)?);
    }
    let mut transitions = Vec::with_capacity(flat.transitions.len());
    for flat_transition in &flat.transitions {
        transitions.push(compiler.transition(flat_transition, &mut places)?);
    }
    connect(&mut places, &transitions);
    let is_timed = places.iter().any(|place| place.is_timed);
    let monitors = Vec::new();
    let mut model = Model { net: net.clone(), flat, program, places, transitions, is_timed, monitors };
    model.monitors = monitors::compile(&mut model)?;
    Ok(model)
}

/// Real time where an inscription has a delay of real numbers (`@++`), or a colour set of times is one of real numbers.
fn time_kind(net: &Net) -> TimeKind {
    let inscriptions = net.pages.iter().flat_map(|page| {
        let places = page.places.iter().map(|place| &place.initial);
        let transitions = page.transitions.iter().flat_map(|of| [&of.delay, &of.guard, &of.code]);
        places.chain(transitions).chain(page.arcs.iter().map(|arc| &arc.inscription))
    });
    let declared = net.declarations.iter().map(|declaration| &declaration.text);
    let is_real = inscriptions.chain(declared).any(|text| text.contains("@++"));
    if is_real { TimeKind::Real } else { TimeKind::Integer }
}

/// The priorities that CPN Tools declares in every net.
fn standard_priorities(program: &mut Program) {
    let text = "val P_HIGH = 100; val P_NORMAL = 1000; val P_LOW = 10000;";
    for declaration in declarations(text).expect("declarations of ours") {
        program.declare(&declaration).expect("declarations of ours");
    }
}

fn declare(net: &Net, program: &mut Program, text: &str, impure: &mut Impure) -> Result<()> {
    let place = || {
        let first = text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let first: String = first.chars().take(60).collect();
        Where::declaration(&net.name, &first)
    };
    for declaration in declarations(text).map_err(|error| error.at(place(), text))? {
        program.declare(&declaration).map_err(|error| error.at(place(), text))?;
        impure.note(program, &declaration);
    }
    Ok(())
}

struct Compiler<'a> {
    net: &'a Net,
    program: &'a Program,
    impure: &'a Impure,
    instances: &'a [usize],
}

impl Compiler<'_> {
    fn name(&self, at: &FlatNode, name: &str) -> String {
        let page = &self.net.pages[at.page].name;
        if self.instances[at.page] > 1 {
            format!("{page}'{name} {}", at.instance)
        } else {
            format!("{page}'{name}")
        }
    }

    /// A place, with the initial marking of a place that is drawn.
    fn place(&self, at: &FlatNode, (page, node): (usize, usize)) -> Result<Place> {
        let marked = &self.net.pages[page];
        let initial_text = &marked.places[node].initial;
        let marked =
            Where::element(&self.net.name, &marked.name, format!("place `{}`", marked.places[node].name));
        let page = &self.net.pages[at.page];
        let drawn = &page.places[at.node];
        let place = Where::element(&self.net.name, &page.name, format!("place `{}`", drawn.name));
        let name = drawn.colset_name();
        let colset = self.program.colset(name).ok_or_else(|| {
            let message = match nearest(name, self.program.colset_names()) {
                Some(near) => format!("there is no colour set `{name}`; did you mean `{near}`?"),
                None => format!("there is no colour set `{name}`"),
            };
            Error::Net { place: place.clone(), message }
        })?;
        let of = &self.program.colsets[colset];
        let (initial, slots) = self
            .initial(initial_text, colset)
            .map_err(|error| error.at(marked.inscription("initial marking"), initial_text))?;
        if !of.timed && is_stamped(&initial) {
            let message =
                format!("the initial marking has time stamps, and the colour set {} is not timed", of.name);
            return Err(Error::Net { place: marked, message });
        }
        Ok(Place {
            name: self.name(at, &drawn.name),
            colset,
            is_timed: of.timed,
            initial,
            slots,
            indexed: Vec::new(),
            is_early: false,
            consumers: Vec::new(),
            inhibits: Vec::new(),
        })
    }

    /// An initial marking, with the slots that it needs.
    fn initial(&self, text: &str, colset: usize) -> std::result::Result<(Output, usize), MlError> {
        if text.trim().is_empty() {
            return Ok((Output::Empty, 0));
        }
        let of = &self.program.colsets[colset].of;
        let expr = counted(expression(text)?, of);
        let mut checker = Checker::new(self.program);
        checker.check_multiset(&expr, of)?;
        checker.finish()?;
        let lists = matches!(of, Type::Con(name, _) if &**name == "list");
        let mut lowering = Lowering::new(self.program);
        let initial = output(&mut lowering, self.program, &expr, lists)?;
        Ok((initial, lowering.slots()))
    }

    fn transition(&mut self, of: &FlatTransition, places: &mut [Place]) -> Result<Transition> {
        let page = &self.net.pages[of.at.page];
        let drawn = &page.transitions[of.at.node];
        let place = Where::element(&self.net.name, &page.name, format!("transition `{}`", drawn.name));
        if !drawn.channel.trim().is_empty() {
            let message = "synchronous channels are not supported".to_owned();
            return Err(Error::Net { place: place.inscription("channel"), message });
        }
        let guard = parsed(&drawn.guard, &place.inscription("guard"), conditions)?;
        let delay = parsed(&drawn.delay, &place.inscription("time"), delay)?;
        let action = parsed(&drawn.code, &place.inscription("code segment"), Segment::parse)?;
        let priority = self.priority(&drawn.priority, &place)?;
        let mut inscriptions = Inscriptions {
            guard: guard.unwrap_or_default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            delay,
            action,
        };
        let (mut inhibitors, mut resets) = (Vec::new(), Vec::new());
        for &(kind, at, arc) in &of.arcs {
            let arc = &page.arcs[arc];
            let place_name = &page.places[arc.place].name;
            let (element, direction) = match kind {
                ArcKind::Output => (format!("arc from `{}` to `{place_name}`", drawn.name), "arc"),
                _ => (format!("arc from `{place_name}` to `{}`", drawn.name), "arc"),
            };
            let at_arc = Where::element(&self.net.name, &page.name, element).inscription(direction);
            match kind {
                ArcKind::Inhibitor => inhibitors.push(at as u32),
                ArcKind::Reset => resets.push(at as u32),
                ArcKind::Input | ArcKind::Output | ArcKind::Both => {
                    let text = &arc.inscription;
                    let colour = &self.program.colsets[places[at].colset].of;
                    let expr = match parsed(text, &at_arc, expression)? {
                        Some(expr) => counted(expr, colour),
                        None if *colour == Type::unit() => unit(0),
                        None => {
                            let message = "it has no inscription".into();
                            return Err(Error::Net { place: at_arc, message });
                        }
                    };
                    if kind != ArcKind::Output {
                        inscriptions.inputs.push((at as u32, expr.clone(), at_arc.clone(), text.clone()));
                    }
                    if kind != ArcKind::Input {
                        inscriptions.outputs.push((at as u32, expr, at_arc, text.clone()));
                    }
                }
            }
        }
        let variables = self.variables(&inscriptions);
        self.check(&inscriptions, &variables, &place, places, drawn)?;
        let terms = Terms::of(self.program, &inscriptions);
        let is_early = terms.iter().any(|term| term.early.is_some());
        let mut planned =
            plan(self.program, &inscriptions, terms, &variables, places).map_err(|(error, at)| match at {
                Some((place, text)) => error.at(place, &text),
                None => Error::Net { place: place.clone(), message: error.message },
            })?;
        let names: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
        let mut lowering = Lowering::with(self.program, &names);
        let mut outputs = Vec::new();
        for (at, expr, at_arc, text) in &inscriptions.outputs {
            let of = &self.program.colsets[places[*at as usize].colset];
            let lists = matches!(&of.of, Type::Con(name, _) if &**name == "list");
            let compiled = output(&mut lowering, self.program, expr, lists)
                .map_err(|error| error.at(at_arc.clone(), text))?;
            if !of.timed && is_stamped(&compiled) {
                let message =
                    format!("it has a time stamp, and the colour set {} of its place is not timed", of.name);
                return Err(Error::Net { place: at_arc.clone(), message });
            }
            outputs.push((*at, compiled));
        }
        let in_time = |error: MlError| error.at(place.inscription("time"), &drawn.delay);
        let delay = match &inscriptions.delay {
            None => None,
            Some(expr) => Some(lowering.expression(expr).map_err(in_time)?),
        };
        let action = match &inscriptions.action {
            None => None,
            Some(segment) => {
                let code = lowering.expression(&segment.action);
                let code = code.map_err(|error| error.at(place.inscription("code segment"), &drawn.code))?;
                Some((code, segment.result(&names)))
            }
        };
        planned.slots = planned.slots.max(lowering.slots());
        let mut taken: Vec<u32> = planned.places().collect();
        taken.sort_unstable();
        let takes_multisets = planned.steps.iter().any(|step| matches!(step, Step::TakeAll { .. }));
        let shares = takes_multisets || taken.windows(2).any(|pair| pair[0] == pair[1]);
        for at in taken {
            places[at as usize].is_early |= is_early && places[at as usize].is_timed;
        }
        let used = inscriptions.enabling_names();
        Ok(Transition {
            name: self.name(&of.at, &drawn.name),
            priority,
            variables,
            slots: planned.slots,
            steps: planned.steps,
            outputs,
            delay,
            action,
            inhibitors,
            resets,
            is_volatile: used.iter().any(|name| self.impure.is_volatile(self.program, name)),
            is_random: inscriptions.names().iter().any(|name| self.impure.is_random(self.program, name)),
            is_early,
            shares,
        })
    }

    fn priority(&self, text: &str, place: &Where) -> Result<i64> {
        let place = place.inscription("priority");
        let Some(expr) = parsed(text, &place, expression)? else { return Ok(NORMAL) };
        let value = self.program.value_of(&expr, &Type::int()).map_err(|error| error.at(place, text))?;
        match value {
            Value::Int(value) => Ok(value),
            other => unreachable!("the type check lets {other:?} be no integer"),
        }
    }

    /// The variables of the net that a transition uses, in the order of their first use.
    fn variables(&self, inscriptions: &Inscriptions) -> Vec<Variable> {
        let outputs = inscriptions.action.as_ref().map_or(&[][..], |segment| &segment.outputs);
        let names = inscriptions.names();
        let known = names.into_iter().filter_map(|name| {
            let colset = *self.program.variables.get(&name)?;
            let is_output = outputs.contains(&name);
            Some(Variable { name, colset, is_output })
        });
        known.collect()
    }

    /// Checks the types of all inscriptions.
    fn check(
        &self,
        inscriptions: &Inscriptions,
        variables: &[Variable],
        place: &Where,
        places: &[Place],
        drawn: &crate::net::Transition,
    ) -> Result<()> {
        let colset = |at: u32| &self.program.colsets[places[at as usize].colset];
        let fresh = || {
            let mut checker = Checker::new(self.program);
            for variable in variables {
                checker.bind(&variable.name, self.program.colsets[variable.colset].of.clone());
            }
            checker
        };
        for (at, expr, at_arc, text) in inscriptions.inputs.iter().chain(&inscriptions.outputs) {
            let mut checker = fresh();
            let checked = checker.check_multiset(expr, &colset(*at).of).and_then(|()| checker.finish());
            checked.map_err(|error| error.at(at_arc.clone(), text))?;
        }
        for condition in &inscriptions.guard {
            let mut checker = fresh();
            let checked = checker.check(condition, &Type::bool()).and_then(|()| checker.finish());
            checked.map_err(|error| error.at(place.inscription("guard"), &drawn.guard))?;
        }
        if let Some(delay) = &inscriptions.delay {
            let mut checker = fresh();
            let number = checker.vars.fresh(Class::Number);
            let checked = checker.check(delay, &number).and_then(|()| checker.finish());
            checked.map_err(|error| error.at(place.inscription("time"), &drawn.delay))?;
        }
        if let Some(segment) = &inscriptions.action {
            let mut checker = fresh();
            let at_code = |error: MlError| error.at(place.inscription("code segment"), &drawn.code);
            let mut types = Vec::new();
            for name in &segment.outputs {
                let Some(variable) = variables.iter().find(|variable| variable.name == *name) else {
                    let message = format!("`{name}` is no variable of the net");
                    return Err(Error::Net { place: place.inscription("code segment"), message });
                };
                types.push(self.program.colsets[variable.colset].of.clone());
            }
            let wanted = match types.len() {
                0 => checker.vars.fresh(Class::Any),
                1 => types.remove(0),
                _ => Type::Tuple(types),
            };
            let checked = checker.check(&segment.action, &wanted).and_then(|()| checker.finish());
            checked.map_err(at_code)?;
        }
        Ok(())
    }
}

/// Notes at each place which transitions look at it.
fn connect(places: &mut [Place], transitions: &[Transition]) {
    for (number, transition) in (0_u32..).zip(transitions) {
        let mut taken: Vec<u32> = super::plan::places(&transition.steps).collect();
        taken.sort_unstable();
        taken.dedup();
        for place in taken {
            places[place as usize].consumers.push(number);
        }
        for &place in &transition.inhibitors {
            places[place as usize].inhibits.push(number);
        }
    }
}
