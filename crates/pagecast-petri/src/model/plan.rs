//! Chooses the order in which the variables of a transition are bound: once, when the net is compiled.
//!
//! A condition is looked at as soon as its variables are bound, and `x = e` in a guard binds `x`. Of the input arcs, one whose colour is
//! known goes first, then one with a known field, then the others as they are drawn. What no arc binds is tried over its colour set.

use std::collections::HashMap;

use super::inscriptions::Segment;
use super::output::{output, with_delay_outside};
use super::{Count, Find, Place, Step, Take, Variable};
use crate::error::{MlError, Where};
use crate::ml::ast::{Expr, ExprKind};
use crate::ml::code::{Code, Match};
use crate::ml::free;
use crate::ml::lower::Lowering;
use crate::ml::program::{Meaning, Program};
use crate::ml::types::Type;
use crate::value::Value;

/// An inscription of an arc: place, expression, and where it stands.
type Arc = (u32, Expr, Where, String);
/// An error, and the inscription that it is in.
type Failure = (MlError, Option<(Where, String)>);

/// The parsed inscriptions of a transition.
pub struct Inscriptions {
    /// Conditions of the guard.
    pub guard: Vec<Expr>,
    /// Input arcs.
    pub inputs: Vec<Arc>,
    /// Output arcs.
    pub outputs: Vec<Arc>,
    /// Delay.
    pub delay: Option<Expr>,
    /// Code segment.
    pub action: Option<Segment>,
}

impl Inscriptions {
    /// All names that are used.
    pub fn names(&self) -> Vec<String> {
        let inputs = self.inputs.iter().map(|arc| &arc.1);
        let outputs = self.outputs.iter().map(|arc| &arc.1);
        let all = inputs.chain(&self.guard).chain(outputs).chain(&self.delay);
        let mut names: Vec<String> = Vec::new();
        let segment = self
            .action
            .iter()
            .flat_map(|segment| segment.outputs.iter().cloned().chain(free::names(&segment.action)));
        for name in all.flat_map(free::names).chain(segment) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The names that say whether the transition is enabled.
    pub fn enabling_names(&self) -> Vec<String> {
        let arcs = self.inputs.iter().map(|arc| &arc.1);
        arcs.chain(&self.guard).flat_map(free::names).collect()
    }
}

/// A term of an input arc.
pub struct Terms {
    place: u32,
    kind: Term,
    /// How long before it is ready a token is taken.
    pub early: Option<Expr>,
    at: (Where, String),
}

enum Term {
    /// So many tokens that fit a pattern.
    Pattern(Option<Expr>, Expr),
    /// A multiset that is computed.
    Computed(Expr),
}

impl Terms {
    /// The terms of all input arcs.
    pub fn of(program: &Program, inscriptions: &Inscriptions) -> Vec<Self> {
        let mut found = Vec::new();
        for (place, expr, at, text) in &inscriptions.inputs {
            let (expr, early) = match with_delay_outside(expr.clone()) {
                Expr { kind: ExprKind::Binary("@+" | "@++", of, delay), .. } => (*of, Some(*delay)),
                expr => (expr, None),
            };
            let mut terms = Vec::new();
            let all_fit = split(program, &expr, &mut terms);
            let kinds = if all_fit { terms } else { vec![Term::Computed(expr)] };
            for kind in kinds {
                let at = (at.clone(), text.clone());
                found.push(Self { place: *place, kind, early: early.clone(), at });
            }
        }
        found
    }

    fn names(&self, variables: &[Variable]) -> Vec<usize> {
        let mut names = match &self.kind {
            Term::Pattern(None, of) | Term::Computed(of) => free::names(of),
            Term::Pattern(Some(count), of) => [free::names(count), free::names(of)].concat(),
        };
        names.extend(self.early.iter().flat_map(free::names));
        numbers(&names, variables)
    }
}

/// Splits a sum into patterns with coefficients; false if a term is no pattern.
fn split(program: &Program, expr: &Expr, found: &mut Vec<Term>) -> bool {
    match &expr.kind {
        ExprKind::Binary("++" | "+++", a, b) => split(program, a, found) && split(program, b, found),
        ExprKind::Binary("`", count, of) => {
            found.push(Term::Pattern(Some((**count).clone()), (**of).clone()));
            is_pattern(program, of)
        }
        _ => {
            found.push(Term::Pattern(None, expr.clone()));
            is_pattern(program, expr)
        }
    }
}

/// True for what surely is one colour: variables, constants, and what is built of them.
fn is_pattern(program: &Program, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Tuple(_) | ExprKind::Record(_) | ExprKind::List(_) => true,
        ExprKind::Name(name) => match program.global(name).map(|global| &global.meaning) {
            None => true,
            Some(Meaning::Value(value)) => !matches!(value, Value::Ms(_)),
            Some(meaning) => !matches!(meaning, Meaning::Function(_)),
        },
        ExprKind::Apply(function, _) => constructor(program, function).is_some(),
        ExprKind::Binary("::", ..) => true,
        ExprKind::Typed(of, _) => is_pattern(program, of),
        _ => false,
    }
}

fn constructor<'p>(program: &'p Program, function: &Expr) -> Option<&'p Meaning> {
    let ExprKind::Name(name) = &function.kind else { return None };
    let meaning = &program.global(name)?.meaning;
    matches!(meaning, Meaning::Constructor(_, true) | Meaning::Index(_)).then_some(meaning)
}

fn numbers(names: &[String], variables: &[Variable]) -> Vec<usize> {
    variables
        .iter()
        .enumerate()
        .filter(|(_, of)| names.contains(&of.name))
        .map(|(number, _)| number)
        .collect()
}

/// The steps of a search.
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
    /// How many slots they need.
    pub slots: usize,
}

impl Plan {
    /// The place of each step that takes tokens.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        places(&self.steps)
    }
}

/// The place of each step that takes tokens.
pub fn places(steps: &[Step]) -> impl Iterator<Item = u32> {
    steps.iter().filter_map(|step| match step {
        Step::Take(take) => Some(take.place),
        Step::TakeAll { place, .. } => Some(*place),
        _ => None,
    })
}

/// Chooses the steps.
pub fn plan(
    program: &Program,
    inscriptions: &Inscriptions,
    terms: Vec<Terms>,
    variables: &[Variable],
    places: &mut [Place],
) -> Result<Plan, Failure> {
    let names: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
    let mut planner = Planner {
        program,
        variables,
        slot_of: names.iter().cloned().zip(0..).collect(),
        lowering: Lowering::with(program, &names),
        bound: vec![false; variables.len()],
        steps: Vec::new(),
        guards: inscriptions.guard.iter().collect(),
    };
    let mut terms = terms;
    loop {
        planner.settle_guards()?;
        if let Some(next) = planner.best(&terms, places) {
            let term = terms.remove(next);
            let at = term.at.clone();
            planner.take(term, places).map_err(|error| (error, Some(at)))?;
            continue;
        }
        let Some(unbound) = planner.wanted(inscriptions, &terms) else { break };
        planner.try_all(unbound)?;
    }
    planner.finish(terms)?;
    Ok(Plan { slots: planner.lowering.slots(), steps: planner.steps })
}

struct Planner<'a> {
    program: &'a Program,
    variables: &'a [Variable],
    slot_of: HashMap<String, u32>,
    lowering: Lowering<'a>,
    bound: Vec<bool>,
    steps: Vec<Step>,
    guards: Vec<&'a Expr>,
}

impl Planner<'_> {
    fn is_bound(&self, expr: &Expr) -> bool {
        numbers(&free::names(expr), self.variables).into_iter().all(|number| self.bound[number])
    }

    /// Adds the conditions whose variables are bound, and binds what a condition gives a value.
    fn settle_guards(&mut self) -> Result<(), Failure> {
        loop {
            let ready =
                self.guards.iter().position(|guard| self.is_bound(guard) || self.defines(guard).is_some());
            let Some(at) = ready else { return Ok(()) };
            let guard = self.guards.remove(at);
            let failed = |error: MlError| (error, None);
            if self.is_bound(guard) {
                let code = self.lowering.expression(guard).map_err(failed)?;
                self.steps.push(Step::Guard(code));
            } else if let Some((number, value)) = self.defines(guard) {
                let code = self.lowering.expression(value).map_err(failed)?;
                self.bound[number] = true;
                self.steps.push(Step::Assign(number as u32, self.variables[number].colset, code));
            }
        }
    }

    /// The variable and the value of a condition `x = e`, if it binds `x`.
    fn defines<'e>(&self, guard: &'e Expr) -> Option<(usize, &'e Expr)> {
        let ExprKind::Binary("=", a, b) = &guard.kind else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(variable, value)| {
            let ExprKind::Name(name) = &variable.kind else { return None };
            let number = self.variables.iter().position(|known| known.name == *name)?;
            (!self.bound[number] && !self.variables[number].is_output && self.is_bound(value))
                .then_some((number, &**value))
        })
    }

    /// The term to take next, if one can be taken.
    fn best(&self, terms: &[Terms], places: &[Place]) -> Option<usize> {
        let score = |term: &Terms| {
            let counted = |expr: &Option<Expr>| expr.as_ref().is_none_or(|expr| self.is_bound(expr));
            if !counted(&term.early) {
                return None;
            }
            match &term.kind {
                Term::Computed(expr) => self.is_bound(expr).then_some(0),
                Term::Pattern(count, of) => {
                    if !counted(count) {
                        return None;
                    }
                    if self.is_bound(of) {
                        return Some(0);
                    }
                    // Expressions in a pattern can wait only for variables that the pattern itself binds.
                    let mut inside = Vec::new();
                    self.pattern_variables(of, &mut inside);
                    let all = numbers(&free::names(of), self.variables);
                    if !all.iter().all(|&number| self.bound[number] || inside.contains(&number)) {
                        return None;
                    }
                    Some(if self.known_field(of, term.place, places).is_some() { 1 } else { 2 })
                }
            }
        };
        let scored = terms.iter().enumerate().filter_map(|(at, term)| Some((score(term)?, at)));
        scored.min().map(|(_, at)| at)
    }

    /// The variables that a pattern binds.
    fn pattern_variables(&self, expr: &Expr, found: &mut Vec<usize>) {
        match &expr.kind {
            ExprKind::Name(name) => found.extend(self.variables.iter().position(|known| known.name == *name)),
            ExprKind::Tuple(all) | ExprKind::List(all) => {
                all.iter().for_each(|inner| self.pattern_variables(inner, found));
            }
            ExprKind::Record(fields) => {
                fields.iter().for_each(|(_, inner)| self.pattern_variables(inner, found))
            }
            ExprKind::Binary("::", a, b) => {
                self.pattern_variables(a, found);
                self.pattern_variables(b, found);
            }
            ExprKind::Apply(function, argument) if constructor(self.program, function).is_some() => {
                self.pattern_variables(argument, found);
            }
            ExprKind::Typed(of, _) => self.pattern_variables(of, found),
            _ => {}
        }
    }

    /// A field of a tuple or a record whose value is known, with its place. One whose value comes from a variable goes before a constant, which all
    /// tokens may share.
    fn known_field<'e>(&self, expr: &'e Expr, place: u32, places: &[Place]) -> Option<(u32, &'e Expr)> {
        let parts: Vec<(u32, &Expr)> = match &expr.kind {
            ExprKind::Tuple(parts) => (0..).zip(parts).collect(),
            ExprKind::Record(fields) => {
                let of = &self.program.colsets[places[place as usize].colset].of;
                let Type::Record(labels, _) = of else { return None };
                let at = |label| labels.iter().position(|known| known == label);
                fields.iter().filter_map(|(label, part)| Some((at(label)? as u32, part))).collect()
            }
            _ => return None,
        };
        let known = parts.into_iter().filter(|(_, part)| self.is_bound(part));
        known.min_by_key(|(_, part)| numbers(&free::names(part), self.variables).is_empty())
    }

    fn take(&mut self, term: Terms, places: &mut [Place]) -> Result<(), MlError> {
        let early = match &term.early {
            Some(expr) => Some(self.lowering.expression(expr)?),
            None => None,
        };
        let place = term.place;
        match term.kind {
            Term::Computed(expr) => {
                let of = &self.program.colsets[places[place as usize].colset].of;
                let lists = matches!(of, Type::Con(name, _) if &**name == "list");
                let tokens = output(&mut self.lowering, self.program, &expr, lists)?;
                self.steps.push(Step::TakeAll { place, tokens, early });
            }
            Term::Pattern(count, of) => {
                let count = match count {
                    None => Count::Fixed(1),
                    Some(expr) => match self.lowering.expression(&expr)? {
                        Code::Const(Value::Int(n)) if n >= 0 => Count::Fixed(n as u64),
                        code => Count::Code(code),
                    },
                };
                let find = if self.is_bound(&of) {
                    Find::Known(self.lowering.expression(&of)?)
                } else if let Some((field, known)) = self.known_field(&of, place, places) {
                    let indexed = &mut places[place as usize].indexed;
                    let number = indexed.iter().position(|&known| known == field).unwrap_or_else(|| {
                        indexed.push(field);
                        indexed.len() - 1
                    });
                    Find::Field(number, self.lowering.expression(known)?)
                } else {
                    Find::All
                };
                let mut checks = Vec::new();
                let pattern = self.pattern(&of, &mut checks)?;
                self.steps.push(Step::Take(Take { place, count, pattern, find, early }));
                self.steps.extend(checks.into_iter().map(Step::Guard));
            }
        }
        Ok(())
    }

    /// The pattern of a colour; conditions that have to wait for its variables are added to `checks`.
    fn pattern(&mut self, expr: &Expr, checks: &mut Vec<Code>) -> Result<Match, MlError> {
        Ok(match &expr.kind {
            ExprKind::Literal(value) => Match::Equal(value.clone()),
            ExprKind::Name(name) => match self.slot_of.get(name) {
                Some(&slot) if self.bound[slot as usize] => Match::Code(Code::Slot(slot)),
                Some(&slot) => {
                    self.bound[slot as usize] = true;
                    Match::Bind(slot)
                }
                None => self.equal(expr)?,
            },
            ExprKind::Tuple(parts) => {
                Match::Tuple(parts.iter().map(|part| self.pattern(part, checks)).collect::<Result<_, _>>()?)
            }
            ExprKind::Record(fields) => {
                let mut order: Vec<_> = fields.iter().collect();
                order.sort_by(|a, b| a.0.cmp(&b.0));
                let parts = order.into_iter().map(|(_, field)| self.pattern(field, checks));
                Match::Tuple(parts.collect::<Result<_, _>>()?)
            }
            ExprKind::List(items) => {
                Match::List(items.iter().map(|item| self.pattern(item, checks)).collect::<Result<_, _>>()?)
            }
            ExprKind::Binary("::", head, tail) => {
                Match::Cons(Box::new([self.pattern(head, checks)?, self.pattern(tail, checks)?]))
            }
            ExprKind::Typed(of, _) => self.pattern(of, checks)?,
            ExprKind::Apply(function, argument) => match constructor(self.program, function) {
                Some(Meaning::Constructor(symbol, _)) => {
                    Match::Apply(*symbol, Box::new(self.pattern(argument, checks)?))
                }
                Some(Meaning::Index(symbol)) => {
                    Match::Index(*symbol, Box::new(self.pattern(argument, checks)?))
                }
                _ => self.computed(expr, checks)?,
            },
            _ => self.computed(expr, checks)?,
        })
    }

    fn equal(&mut self, expr: &Expr) -> Result<Match, MlError> {
        Ok(match self.lowering.expression(expr)? {
            Code::Const(value) => Match::Equal(value),
            code => Match::Code(code),
        })
    }

    /// A part that is computed: compared at once, or when its variables are bound.
    fn computed(&mut self, expr: &Expr, checks: &mut Vec<Code>) -> Result<Match, MlError> {
        if self.is_bound(expr) {
            return self.equal(expr);
        }
        let slot = self.lowering.hidden();
        let code = self.lowering.expression(expr)?;
        checks.push(Code::Operation(crate::ml::code::Operator::Eq, Box::new([Code::Slot(slot), code])));
        Ok(Match::Bind(slot))
    }

    /// A variable that is still to be bound.
    fn wanted(&self, inscriptions: &Inscriptions, terms: &[Terms]) -> Option<usize> {
        let mut wanted: Vec<usize> = terms.iter().flat_map(|term| term.names(self.variables)).collect();
        wanted.extend(self.guards.iter().flat_map(|guard| numbers(&free::names(guard), self.variables)));
        let rest = inscriptions.outputs.iter().map(|arc| &arc.1).chain(&inscriptions.delay);
        wanted.extend(rest.flat_map(|expr| numbers(&free::names(expr), self.variables)));
        if let Some(segment) = &inscriptions.action {
            wanted.extend(numbers(&free::names(&segment.action), self.variables));
        }
        wanted.into_iter().find(|&number| !self.bound[number] && !self.variables[number].is_output)
    }

    fn try_all(&mut self, number: usize) -> Result<(), Failure> {
        let variable = &self.variables[number];
        let Some(elements) = self.program.elements(variable.colset) else {
            let colset = &self.program.colsets[variable.colset].name;
            let message = format!(
                "the variable `{}` is bound by no input arc, and its colour set {colset} has too many elements to try them all",
                variable.name
            );
            return Err((MlError::new(0, message), None));
        };
        self.bound[number] = true;
        self.steps.push(Step::Try(number as u32, elements.into()));
        Ok(())
    }

    /// Fails where a term or a condition is left.
    fn finish(&self, terms: Vec<Terms>) -> Result<(), Failure> {
        let output = |numbers: Vec<usize>| {
            let number = numbers.into_iter().find(|&number| !self.bound[number]);
            let name = number.map_or("a variable", |number| &self.variables[number].name);
            MlError::new(0, format!("`{name}` gets its value from the code segment, after this was needed"))
        };
        if let Some(term) = terms.first() {
            return Err((output(term.names(self.variables)), Some(term.at.clone())));
        }
        match self.guards.first() {
            Some(guard) => Err((output(numbers(&free::names(guard), self.variables)), None)),
            None => Ok(()),
        }
    }
}
