//! Compiles checked CPN ML: variables become slots, fields their places, calls of known functions direct.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Clause, Declaration, Expr, ExprKind, Fun, Pattern, PatternKind, Rule};
use super::code::{Arm, Callee, Code, Function, Lambda, Match, Operator};
use super::library::Builtin;
use super::program::{Meaning, Program, variable};
use crate::error::MlError;
use crate::value::Value;

type Lowered<T> = Result<T, MlError>;

/// Compiles the expressions of one frame.
pub struct Lowering<'p> {
    program: &'p Program,
    /// Names in scope, the innermost last.
    names: Vec<(String, u32)>,
    slots: usize,
    /// Names of the frame around a local function, if there is one.
    around: Vec<String>,
    /// Names of the frame around that were used, with their slots here.
    captured: Vec<(String, u32)>,
}

impl<'p> Lowering<'p> {
    /// An empty frame.
    pub fn new(program: &'p Program) -> Self {
        Self { program, names: Vec::new(), slots: 0, around: Vec::new(), captured: Vec::new() }
    }

    /// A frame that begins with some variables.
    pub fn with(program: &'p Program, names: &[String]) -> Self {
        let mut lowering = Self::new(program);
        for name in names {
            lowering.bind(name);
        }
        lowering
    }

    /// How many slots the frame has.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The slots of the names in scope.
    pub fn bound(&self) -> HashMap<String, u32> {
        self.names.iter().cloned().collect()
    }

    fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots as u32 - 1
    }

    /// A slot without a name.
    pub fn hidden(&mut self) -> u32 {
        self.slot()
    }

    fn bind(&mut self, name: &str) -> u32 {
        let slot = self.slot();
        self.names.push((name.to_owned(), slot));
        slot
    }

    /// The slot of a local name; one of the frame around is captured.
    fn local(&mut self, name: &str) -> Option<u32> {
        if let Some((_, slot)) = self.names.iter().rev().find(|(known, _)| known == name) {
            return Some(*slot);
        }
        if let Some((_, slot)) = self.captured.iter().find(|(known, _)| known == name) {
            return Some(*slot);
        }
        if self.around.iter().any(|known| known == name) {
            let slot = self.slot();
            self.captured.push((name.to_owned(), slot));
            return Some(slot);
        }
        None
    }

    /// Compiles an expression.
    pub fn expression(&mut self, expr: &Expr) -> Lowered<Code> {
        Ok(match &expr.kind {
            ExprKind::Literal(value) => Code::Const(value.clone()),
            ExprKind::Name(name) => self.name(name, expr.at)?,
            ExprKind::Tuple(parts) => {
                let parts = self.all(parts)?;
                match constants(&parts) {
                    Some(values) => Code::Const(Value::tuple(values)),
                    None => Code::Tuple(parts),
                }
            }
            ExprKind::Record(fields) => {
                let mut order: Vec<_> = fields.iter().collect();
                order.sort_by(|a, b| a.0.cmp(&b.0));
                let parts: Box<[Code]> =
                    order.into_iter().map(|(_, field)| self.expression(field)).collect::<Lowered<_>>()?;
                match constants(&parts) {
                    Some(values) => Code::Const(Value::tuple(values)),
                    None => Code::Tuple(parts),
                }
            }
            ExprKind::List(items) => {
                let items = self.all(items)?;
                match constants(&items) {
                    Some(values) => Code::Const(Value::list(values)),
                    None => Code::List(items),
                }
            }
            ExprKind::Select(_, places) => Code::Const(Function::value(Callee::Field(places.borrow()[0]))),
            ExprKind::Apply(..) => self.application(expr)?,
            ExprKind::Fn(rules) => {
                let clauses: Vec<_> = rules.iter().map(|rule| (vec![&rule.pattern], &rule.body)).collect();
                self.closure("fn", None, &clauses)?
            }
            ExprKind::If(condition, then, otherwise) => Code::If(Box::new([
                self.expression(condition)?,
                self.expression(then)?,
                self.expression(otherwise)?,
            ])),
            ExprKind::Case(subject, rules) => {
                Code::Case(Box::new(self.expression(subject)?), self.rules(rules)?)
            }
            ExprKind::Let(declared, body) => self.let_in(declared, body)?,
            ExprKind::Sequence(all) => Code::Sequence(self.all(all)?),
            ExprKind::And(a, b) => Code::And(Box::new([self.expression(a)?, self.expression(b)?])),
            ExprKind::Or(a, b) => Code::Or(Box::new([self.expression(a)?, self.expression(b)?])),
            ExprKind::Binary(operator, a, b) => {
                let operator = Operator::of(operator).expect("the parser knows the operators");
                Code::Operation(operator, Box::new([self.expression(a)?, self.expression(b)?]))
            }
            ExprKind::Typed(of, _) => self.expression(of)?,
            ExprKind::Raise(of) => Code::Raise(Box::new(self.expression(of)?)),
            ExprKind::Handle(of, rules) => Code::Handle(Box::new(self.expression(of)?), self.rules(rules)?),
        })
    }

    fn all(&mut self, all: &[Expr]) -> Lowered<Box<[Code]>> {
        all.iter().map(|expr| self.expression(expr)).collect()
    }

    fn name(&mut self, name: &str, at: usize) -> Lowered<Code> {
        if let Some(slot) = self.local(name) {
            return Ok(Code::Slot(slot));
        }
        let Some(global) = self.program.global(name) else {
            return Err(MlError::new(at, self.program.unknown(name, std::iter::empty())));
        };
        Ok(Code::Const(match &global.meaning {
            Meaning::Value(value) | Meaning::Constant(value) => value.clone(),
            Meaning::Function(number) => Function::value(Callee::Known(*number)),
            Meaning::Constructor(symbol, false) => Value::Con(*symbol),
            Meaning::Constructor(symbol, true) => Function::value(Callee::Constructor(*symbol)),
            Meaning::Index(symbol) => Function::value(Callee::Index(*symbol)),
        }))
    }

    /// `f x y`: direct where `f` is known and has all its arguments.
    fn application(&mut self, expr: &Expr) -> Lowered<Code> {
        let (mut function, mut arguments) = (expr, Vec::new());
        while let ExprKind::Apply(of, argument) = &function.kind {
            arguments.push(&**argument);
            function = of;
        }
        arguments.reverse();
        if let ExprKind::Select(_, places) = &function.kind {
            let field = Code::Field(places.borrow()[0], Box::new(self.expression(arguments[0])?));
            return self.call(field, &arguments[1..]);
        }
        let callee = self.expression(function)?;
        if let Code::Const(Value::Fn(known)) = &callee
            && known.applied.is_empty()
        {
            match &known.callee {
                Callee::Known(number) => {
                    let lambda = &self.program.functions[*number as usize];
                    let (takes, spread) = (lambda.parameters, lambda.is_spread);
                    if arguments.len() >= takes {
                        let wanted = spread.then_some(lambda.arguments);
                        if let Some(given) = self.arguments(&arguments[..takes], wanted)? {
                            return self.call(Code::CallKnown(*number, given), &arguments[takes..]);
                        }
                    }
                }
                Callee::Builtin(builtin) if arguments.len() >= builtin.parameters => {
                    let builtin: &'static Builtin = builtin;
                    let takes = builtin.parameters;
                    let wanted = builtin.is_spread.then_some(builtin.arguments);
                    if let Some(given) = self.arguments(&arguments[..takes], wanted)? {
                        return self.call(Code::CallBuiltin(builtin, given), &arguments[takes..]);
                    }
                }
                Callee::Constructor(symbol) => {
                    let made = Code::Construct(*symbol, Box::new(self.expression(arguments[0])?));
                    return self.call(made, &arguments[1..]);
                }
                Callee::Index(symbol) => {
                    let made = Code::Index(*symbol, Box::new(self.expression(arguments[0])?));
                    return self.call(made, &arguments[1..]);
                }
                _ => {}
            }
        }
        self.call(callee, &arguments)
    }

    /// The arguments of a direct call; none where a tuple that is wanted in parts is not written as one.
    fn arguments(&mut self, given: &[&Expr], parts: Option<usize>) -> Lowered<Option<Box<[Code]>>> {
        match (parts, &given[0].kind) {
            (None, _) => given.iter().map(|expr| self.expression(expr)).collect::<Lowered<_>>().map(Some),
            (Some(parts), ExprKind::Tuple(written)) if written.len() == parts => self.all(written).map(Some),
            (Some(_), _) => Ok(None),
        }
    }

    fn call(&mut self, function: Code, arguments: &[&Expr]) -> Lowered<Code> {
        if arguments.is_empty() {
            return Ok(function);
        }
        let arguments = arguments.iter().map(|expr| self.expression(expr)).collect::<Lowered<_>>()?;
        Ok(Code::Call(Box::new(function), arguments))
    }

    fn rules(&mut self, rules: &[Rule]) -> Lowered<Box<[Arm]>> {
        rules
            .iter()
            .map(|rule| {
                let outer = self.names.len();
                let pattern = self.pattern(&rule.pattern)?;
                let body = self.expression(&rule.body)?;
                self.names.truncate(outer);
                Ok(Arm { pattern, body })
            })
            .collect()
    }

    fn let_in(&mut self, declared: &[Declaration], body: &Expr) -> Lowered<Code> {
        let outer = self.names.len();
        let mut bindings = Vec::new();
        for declaration in declared {
            match declaration {
                Declaration::Val(pattern, expr) => {
                    let code = self.expression(expr)?;
                    bindings.push((self.pattern(pattern)?, code));
                }
                Declaration::Fun(functions) => {
                    if let [_, second, ..] = &functions[..] {
                        let text = "functions that call each other are declared outside of `let`";
                        return Err(MlError::new(second.at, text));
                    }
                    let function = &functions[0];
                    let clauses: Vec<_> = function.clauses.iter().map(parts).collect();
                    let closure = self.closure(&function.name, Some(&function.name), &clauses)?;
                    let slot = self.bind(&function.name);
                    bindings.push((Match::Bind(slot), closure));
                }
                _ => unreachable!("the parser lets nothing else into `let`"),
            }
        }
        let body = self.expression(body)?;
        self.names.truncate(outer);
        Ok(Code::Let(bindings.into(), Box::new(body)))
    }

    fn closure(
        &mut self,
        name: &str,
        itself: Option<&str>,
        clauses: &[(Vec<&Pattern>, &Expr)],
    ) -> Lowered<Code> {
        let around = self.names.iter().map(|(name, _)| name.clone());
        let around = around.chain(self.around.iter().cloned()).collect();
        let inner = Lowering { around, ..Lowering::new(self.program) };
        let (lambda, captured) = inner.lambda(name, itself, clauses)?;
        if captured.is_empty() && lambda.itself.is_none() {
            let callee = Callee::Lambda(Arc::new(lambda), Box::new([]));
            return Ok(Code::Const(Function::value(callee)));
        }
        let slots =
            captured.iter().map(|name| self.local(name).expect("the name is around")).collect::<Vec<_>>();
        Ok(Code::Closure(Arc::new(lambda), slots.into()))
    }

    fn lambda(
        mut self,
        name: &str,
        itself: Option<&str>,
        clauses: &[(Vec<&Pattern>, &Expr)],
    ) -> Lowered<(Lambda, Vec<String>)> {
        let parameters = clauses[0].0.len();
        let spread = spread_variables(self.program, clauses);
        let arguments = spread.as_ref().map_or(parameters, Vec::len);
        self.slots = arguments;
        let itself = itself.map(|name| self.bind(name));
        let mut compiled = Vec::new();
        for (patterns, body) in clauses {
            let outer = self.names.len();
            let patterns: Box<[Match]> = match &spread {
                Some(variables) => {
                    let names = variables.iter().zip(0..);
                    self.names.extend(names.map(|(name, slot)| ((*name).to_owned(), slot)));
                    Box::new([])
                }
                None => {
                    let all = patterns.iter().zip(0_u32..);
                    all.map(|(pattern, slot)| self.parameter(pattern, slot)).collect::<Lowered<_>>()?
                }
            };
            compiled.push((patterns, self.expression(body)?));
            self.names.truncate(outer);
        }
        let (captured, places): (Vec<_>, Vec<_>) = self.captured.into_iter().unzip();
        let lambda = Lambda {
            name: name.to_owned(),
            parameters,
            is_spread: spread.is_some(),
            arguments,
            slots: self.slots,
            captured: places.into(),
            itself,
            clauses: compiled.into(),
        };
        Ok((lambda, captured))
    }

    /// An argument that is a variable stays where it is.
    fn parameter(&mut self, pattern: &Pattern, slot: u32) -> Lowered<Match> {
        match variable(pattern) {
            Some(name) if !is_constructor(self.program, name) => {
                self.names.push((name.to_owned(), slot));
                Ok(Match::Any)
            }
            _ => self.pattern(pattern),
        }
    }

    /// Compiles a function of the net.
    pub fn global_function(self, function: &Fun) -> Lowered<Lambda> {
        let clauses: Vec<_> = function.clauses.iter().map(parts).collect();
        Ok(self.lambda(&function.name, None, &clauses)?.0)
    }

    /// How a function is called, before it is compiled.
    pub fn shape(program: &Program, function: &Fun) -> Lambda {
        let clauses: Vec<_> = function.clauses.iter().map(parts).collect();
        let spread = spread_variables(program, &clauses);
        let arguments = spread.as_ref().map_or(clauses[0].0.len(), Vec::len);
        Lambda {
            name: function.name.clone(),
            parameters: clauses[0].0.len(),
            is_spread: spread.is_some(),
            arguments,
            slots: arguments,
            captured: Box::new([]),
            itself: None,
            clauses: Box::new([]),
        }
    }

    /// Compiles a pattern; its variables get slots.
    pub fn pattern(&mut self, pattern: &Pattern) -> Lowered<Match> {
        Ok(match &pattern.kind {
            PatternKind::Any => Match::Any,
            PatternKind::Literal(value) => Match::Equal(value.clone()),
            PatternKind::Name(name) => match self.program.global(name).map(|global| &global.meaning) {
                Some(Meaning::Constant(value)) => Match::Equal(value.clone()),
                Some(Meaning::Constructor(symbol, false)) => Match::Equal(Value::Con(*symbol)),
                Some(Meaning::Constructor(..) | Meaning::Index(_)) => {
                    return Err(MlError::new(pattern.at, format!("`{name}` wants its argument")));
                }
                _ => Match::Bind(self.bind(name)),
            },
            PatternKind::Tuple(parts) => Match::Tuple(self.patterns(parts)?),
            PatternKind::Record(fields, _, places) => {
                let places = places.borrow().clone();
                let fields = fields.iter().zip(places);
                Match::Fields(
                    fields
                        .map(|((_, field), place)| Ok((place, self.pattern(field)?)))
                        .collect::<Lowered<_>>()?,
                )
            }
            PatternKind::List(items) => Match::List(self.patterns(items)?),
            PatternKind::Cons(head, tail) => {
                Match::Cons(Box::new([self.pattern(head)?, self.pattern(tail)?]))
            }
            PatternKind::Apply(name, argument) => {
                let argument = Box::new(self.pattern(argument)?);
                match self.program.global(name).map(|global| &global.meaning) {
                    Some(Meaning::Constructor(symbol, _)) => Match::Apply(*symbol, argument),
                    Some(Meaning::Index(symbol)) => Match::Index(*symbol, argument),
                    _ => return Err(MlError::new(pattern.at, format!("there is no constructor `{name}`"))),
                }
            }
            PatternKind::As(name, of) => {
                let slot = self.bind(name);
                Match::As(slot, Box::new(self.pattern(of)?))
            }
            PatternKind::Typed(of, _) => self.pattern(of)?,
            PatternKind::Equal(expr) => Match::Code(self.expression(expr)?),
        })
    }

    fn patterns(&mut self, all: &[Pattern]) -> Lowered<Box<[Match]>> {
        all.iter().map(|pattern| self.pattern(pattern)).collect()
    }
}

fn is_constructor(program: &Program, name: &str) -> bool {
    program.global(name).is_some_and(|global| {
        matches!(global.meaning, Meaning::Constant(_) | Meaning::Constructor(..) | Meaning::Index(_))
    })
}

fn parts(clause: &Clause) -> (Vec<&Pattern>, &Expr) {
    (clause.parameters.iter().collect(), &clause.body)
}

/// The variables of a function of one clause whose parameter is a tuple of variables.
fn spread_variables<'a>(program: &Program, clauses: &[(Vec<&'a Pattern>, &Expr)]) -> Option<Vec<&'a str>> {
    let [(patterns, _)] = clauses else { return None };
    let [Pattern { kind: PatternKind::Tuple(parts), .. }] = patterns[..] else { return None };
    parts.iter().map(|part| variable(part).filter(|name| !is_constructor(program, name))).collect()
}

fn constants(all: &[Code]) -> Option<Vec<Value>> {
    all.iter().map(|code| Program::constant(code).cloned()).collect()
}
