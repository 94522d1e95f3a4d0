//! Checks the types of CPN ML.
//!
//! Source: Damas and Milner, *Principal type-schemes for functional programs* (POPL 1982). Overloaded operators take the type of their
//! operands, and `int` where nothing says more. The place of a field in its record is written into the syntax tree.

use std::collections::HashMap;

use super::ast::{
    Clause, Declaration, Expr, ExprKind, Fun, Pattern, PatternKind, Places, Rule, TypeExpr, TypeKind,
};
use super::code::Callee;
use super::program::{Meaning, Program};
use super::types::{Class, Scheme, Type, Vars};
use crate::error::MlError;
use crate::value::Value;

type Checked<T> = Result<T, MlError>;

/// Checks one expression or declaration.
pub struct Checker<'p> {
    program: &'p Program,
    /// Types that are not known yet.
    pub vars: Vars,
    locals: Vec<(String, Scheme)>,
    type_vars: HashMap<String, Type>,
    waiting: Vec<Waiting>,
}

/// Fields of a record whose type was not known where they were used.
struct Waiting {
    record: Type,
    labels: Vec<String>,
    fields: Vec<Type>,
    places: Places,
    at: usize,
}

impl<'p> Checker<'p> {
    /// A checker that knows the names of a program.
    pub fn new(program: &'p Program) -> Self {
        Self {
            program,
            vars: Vars::default(),
            locals: Vec::new(),
            type_vars: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Declares a name with its type.
    pub fn bind(&mut self, name: &str, of: Type) {
        self.locals.push((name.to_owned(), Scheme::mono(of)));
    }

    /// Fails where the record of a field is still not known.
    pub fn finish(&mut self) -> Checked<()> {
        self.look_again()?;
        match self.waiting.first() {
            None => Ok(()),
            Some(waiting) => Err(MlError::new(
                waiting.at,
                format!(
                    "the record with the field `{}` is not known; write its type, as in `(x: C)`",
                    waiting.labels[0]
                ),
            )),
        }
    }

    fn mismatch(&self, at: usize, wanted: &Type, found: &Type) -> MlError {
        let (wanted, found) = self.vars.shown_both(wanted, found);
        MlError::new(at, format!("expected {wanted}, found {found}"))
    }

    /// Fails unless the types can be made equal.
    pub fn expect(&mut self, at: usize, wanted: &Type, found: &Type) -> Checked<()> {
        if self.vars.unify(wanted, found) { Ok(()) } else { Err(self.mismatch(at, wanted, found)) }
    }

    /// Checks an expression against a type.
    pub fn check(&mut self, expr: &Expr, wanted: &Type) -> Checked<()> {
        let found = self.infer(expr)?;
        self.expect(expr.at, wanted, &found)
    }

    /// Checks what may be a colour or a multiset of it: an arc inscription, or an initial marking.
    pub fn check_multiset(&mut self, expr: &Expr, colour: &Type) -> Checked<()> {
        // `if a then 1`x else empty` has a multiset at one end and perhaps a colour at the other.
        if let ExprKind::If(condition, then, otherwise) = &expr.kind {
            self.check(condition, &Type::bool())?;
            self.check_multiset(then, colour)?;
            return self.check_multiset(otherwise, colour);
        }
        match &expr.kind {
            ExprKind::Binary("++" | "+++", a, b) => {
                self.check_multiset(a, colour)?;
                return self.check_multiset(b, colour);
            }
            ExprKind::Binary("@+" | "@++" | "@", of, time) => {
                self.check_multiset(of, colour)?;
                let number = self.vars.fresh(Class::Number);
                return self.check(time, &number);
            }
            _ => {}
        }
        let found = self.infer(expr)?;
        let wanted = if self.is_multiset(&found, colour) { Type::ms(colour.clone()) } else { colour.clone() };
        self.vars.lists_fit = true;
        let fits = self.expect(expr.at, &wanted, &found);
        self.vars.lists_fit = false;
        fits
    }

    fn is_multiset(&self, found: &Type, colour: &Type) -> bool {
        match self.vars.head(found) {
            Type::Con(name, _) if &*name == "ms" => true,
            // A list where no list is a colour: `map f (C.all())` is a multiset.
            Type::Con(name, _) if &*name == "list" => {
                !matches!(self.vars.head(colour), Type::Con(colour, _) if &*colour == "list")
            }
            _ => false,
        }
    }

    /// The type of an expression.
    pub fn infer(&mut self, expr: &Expr) -> Checked<Type> {
        match &expr.kind {
            ExprKind::Literal(value) => Ok(of_literal(value)),
            ExprKind::Name(name) => self.of_name(name, expr.at),
            ExprKind::Tuple(parts) => {
                Ok(Type::Tuple(parts.iter().map(|part| self.infer(part)).collect::<Checked<_>>()?))
            }
            ExprKind::Record(fields) => {
                let mut found = fields
                    .iter()
                    .map(|(label, field)| Ok((label.clone(), self.infer(field)?)))
                    .collect::<Checked<Vec<_>>>()?;
                found.sort_by(|a, b| a.0.cmp(&b.0));
                if let Some(twice) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    return Err(MlError::new(expr.at, format!("the field `{}` is given twice", twice[0].0)));
                }
                let (labels, types): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                Ok(Type::Record(labels.into(), types))
            }
            ExprKind::List(items) => {
                let item = self.vars.fresh(Class::Any);
                for found in items {
                    self.check(found, &item)?;
                }
                Ok(Type::list(item))
            }
            ExprKind::Select(label, places) => {
                let (record, field) = (self.vars.fresh(Class::Any), self.vars.fresh(Class::Any));
                self.want(&record, vec![label.clone()], vec![field.clone()], places, expr.at)?;
                Ok(Type::function(record, field))
            }
            ExprKind::Apply(function, argument) => self.apply(function, argument),
            ExprKind::Fn(rules) => {
                let (from, to) = (self.vars.fresh(Class::Any), self.vars.fresh(Class::Any));
                self.rules(rules, &from, &to)?;
                Ok(Type::function(from, to))
            }
            ExprKind::If(condition, then, otherwise) => {
                self.check(condition, &Type::bool())?;
                let found = self.infer(then)?;
                self.check(otherwise, &found)?;
                Ok(found)
            }
            ExprKind::Case(subject, rules) => {
                let (from, to) = (self.infer(subject)?, self.vars.fresh(Class::Any));
                self.rules(rules, &from, &to)?;
                Ok(to)
            }
            ExprKind::Let(declared, body) => {
                let outer = self.locals.len();
                for declaration in declared {
                    let names = self.declare(declaration)?;
                    self.locals.extend(names);
                }
                let found = self.infer(body)?;
                self.locals.truncate(outer);
                Ok(found)
            }
            ExprKind::Sequence(all) => {
                let (last, first) = all.split_last().expect("a sequence has expressions");
                for expr in first {
                    self.infer(expr)?;
                }
                self.infer(last)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.check(a, &Type::bool())?;
                self.check(b, &Type::bool())?;
                Ok(Type::bool())
            }
            ExprKind::Binary(operator, a, b) => self.binary(operator, a, b),
            ExprKind::Typed(of, annotated) => {
                let wanted = self.written(annotated)?;
                self.check(of, &wanted)?;
                Ok(wanted)
            }
            ExprKind::Raise(of) => {
                self.check(of, &Type::named("exn"))?;
                Ok(self.vars.fresh(Class::Any))
            }
            ExprKind::Handle(of, rules) => {
                let found = self.infer(of)?;
                self.rules(rules, &Type::named("exn"), &found)?;
                Ok(found)
            }
        }
    }

    fn apply(&mut self, function: &Expr, argument: &Expr) -> Checked<Type> {
        let of = self.infer(function)?;
        match self.vars.head(&of) {
            Type::Fn(from, to) => {
                let found = self.infer(argument)?;
                self.vars.lists_fit = self.is_library(function);
                let fits = self.expect(argument.at, &from, &found);
                self.vars.lists_fit = false;
                fits?;
                self.look_again()?;
                Ok(*to)
            }
            Type::Var(_) => {
                let (from, to) = (self.infer(argument)?, self.vars.fresh(Class::Any));
                self.expect(function.at, &of, &Type::function(from, to.clone()))?;
                Ok(to)
            }
            other => {
                let found = self.vars.shown(&other);
                Err(MlError::new(function.at, format!("this is a value of type {found}, and no function")))
            }
        }
    }

    /// True for a function of the library, perhaps with some of its arguments.
    fn is_library(&self, function: &Expr) -> bool {
        match &function.kind {
            ExprKind::Apply(of, _) => self.is_library(of),
            ExprKind::Name(name) if !self.locals.iter().any(|(known, _)| known == name) => {
                self.program.global(name).is_some_and(|global| match &global.meaning {
                    Meaning::Value(Value::Fn(function)) => matches!(function.callee, Callee::Builtin(_)),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    fn of_name(&mut self, name: &str, at: usize) -> Checked<Type> {
        if let Some((_, scheme)) = self.locals.iter().rev().find(|(known, _)| known == name) {
            let scheme = scheme.clone();
            return Ok(self.vars.instance(&scheme));
        }
        match self.program.global(name) {
            Some(global) => Ok(self.vars.instance(&global.scheme)),
            None => {
                Err(MlError::new(at, self.program.unknown(name, self.locals.iter().map(|(name, _)| &**name))))
            }
        }
    }

    fn binary(&mut self, operator: &str, a: &Expr, b: &Expr) -> Checked<Type> {
        if let Some((class, result)) = same_on_both_sides(operator) {
            let operand = self.vars.fresh(class);
            self.check(a, &operand)?;
            self.check(b, &operand)?;
            return Ok(result.unwrap_or(operand));
        }
        let fixed = match operator {
            "/" => Some(Type::real()),
            "div" | "mod" => Some(Type::int()),
            "^" => Some(Type::string()),
            _ => None,
        };
        if let Some(of) = fixed {
            self.check(a, &of)?;
            self.check(b, &of)?;
            return Ok(of);
        }
        match operator {
            "::" => {
                let list = Type::list(self.infer(a)?);
                self.check(b, &list)?;
                Ok(list)
            }
            "^^" => {
                let list = Type::list(self.vars.fresh(Class::Any));
                self.check(a, &list)?;
                self.check(b, &list)?;
                Ok(self.vars.head(&list))
            }
            "`" => {
                self.check(a, &Type::int())?;
                Ok(Type::ms(self.infer(b)?))
            }
            "**" => {
                self.check(a, &Type::int())?;
                self.multiset(b)
            }
            "++" | "+++" | "--" => {
                let multiset = self.multiset(a)?;
                let other = self.multiset(b)?;
                self.expect(b.at, &multiset, &other)?;
                Ok(multiset)
            }
            "==" | "<><>" | "<<" | "<<=" | ">>" | ">>=" => {
                let multiset = self.multiset(a)?;
                let other = self.multiset(b)?;
                self.expect(b.at, &multiset, &other)?;
                Ok(Type::bool())
            }
            "@+" | "@++" | "@" => {
                let multiset = self.multiset(a)?;
                let delay = self.vars.fresh(Class::Number);
                self.check(b, &delay)?;
                Ok(multiset)
            }
            ":=" => {
                let of = self.vars.fresh(Class::Any);
                self.check(a, &Type::Con("ref".into(), vec![of.clone()]))?;
                self.check(b, &of)?;
                Ok(Type::unit())
            }
            "o" => {
                let [x, y, z] = [0; 3].map(|_| self.vars.fresh(Class::Any));
                self.check(a, &Type::function(y.clone(), z.clone()))?;
                self.check(b, &Type::function(x.clone(), y))?;
                Ok(Type::function(x, z))
            }
            other => unreachable!("the parser knows no operator {other}"),
        }
    }

    /// The type of a multiset operand; a colour stands for one token of it. What is not known yet is a multiset, if it can be one.
    fn multiset(&mut self, expr: &Expr) -> Checked<Type> {
        let found = self.infer(expr)?;
        let is_multiset = match self.vars.head(&found) {
            Type::Con(name, _) => &*name == "ms",
            Type::Var(_) => {
                let multiset = Type::ms(self.vars.fresh(Class::Any));
                self.vars.unify(&multiset, &found)
            }
            _ => false,
        };
        Ok(if is_multiset { found } else { Type::ms(found) })
    }

    fn rules(&mut self, rules: &[Rule], from: &Type, to: &Type) -> Checked<()> {
        for rule in rules {
            let outer = self.locals.len();
            self.check_pattern(&rule.pattern, from)?;
            self.check(&rule.body, to)?;
            self.locals.truncate(outer);
        }
        Ok(())
    }

    /// Checks a pattern and binds its variables.
    pub fn check_pattern(&mut self, pattern: &Pattern, wanted: &Type) -> Checked<()> {
        match &pattern.kind {
            PatternKind::Any => Ok(()),
            PatternKind::Literal(value) => self.expect(pattern.at, wanted, &of_literal(value)),
            PatternKind::Name(name) => match self.constructor(name) {
                Some(of) => self.expect(pattern.at, wanted, &of),
                None => {
                    self.bind(name, wanted.clone());
                    Ok(())
                }
            },
            PatternKind::Tuple(parts) => {
                let types: Vec<_> = parts.iter().map(|_| self.vars.fresh(Class::Any)).collect();
                self.expect(pattern.at, wanted, &Type::Tuple(types.clone()))?;
                parts.iter().zip(&types).try_for_each(|(part, of)| self.check_pattern(part, of))
            }
            PatternKind::Record(fields, is_partial, places) => {
                let types: Vec<_> = fields.iter().map(|_| self.vars.fresh(Class::Any)).collect();
                let labels: Vec<_> = fields.iter().map(|(label, _)| label.clone()).collect();
                if *is_partial {
                    self.want(wanted, labels, types.clone(), places, pattern.at)?;
                } else {
                    let mut order: Vec<usize> = (0..fields.len()).collect();
                    order.sort_by(|&a, &b| labels[a].cmp(&labels[b]));
                    let sorted: Vec<String> = order.iter().map(|&at| labels[at].clone()).collect();
                    let record =
                        Type::Record(sorted.into(), order.iter().map(|&at| types[at].clone()).collect());
                    self.expect(pattern.at, wanted, &record)?;
                    let mut found = vec![0; fields.len()];
                    order.iter().enumerate().for_each(|(place, &field)| found[field] = place as u32);
                    *places.borrow_mut() = found;
                }
                fields.iter().zip(&types).try_for_each(|((_, field), of)| self.check_pattern(field, of))
            }
            PatternKind::List(items) => {
                let item = self.vars.fresh(Class::Any);
                self.expect(pattern.at, wanted, &Type::list(item.clone()))?;
                items.iter().try_for_each(|found| self.check_pattern(found, &item))
            }
            PatternKind::Cons(head, tail) => {
                let item = self.vars.fresh(Class::Any);
                let list = Type::list(item.clone());
                self.expect(pattern.at, wanted, &list)?;
                self.check_pattern(head, &item)?;
                self.check_pattern(tail, &list)
            }
            PatternKind::Apply(name, argument) => match self.constructor(name) {
                Some(Type::Fn(from, to)) => {
                    self.expect(pattern.at, wanted, &to)?;
                    self.check_pattern(argument, &from)
                }
                Some(_) => Err(MlError::new(pattern.at, format!("`{name}` takes no argument"))),
                None => Err(MlError::new(pattern.at, format!("there is no constructor `{name}`"))),
            },
            PatternKind::As(name, of) => {
                self.bind(name, wanted.clone());
                self.check_pattern(of, wanted)
            }
            PatternKind::Typed(of, annotated) => {
                let written = self.written(annotated)?;
                self.expect(pattern.at, wanted, &written)?;
                self.check_pattern(of, wanted)
            }
            PatternKind::Equal(expr) => self.check(expr, wanted),
        }
    }

    fn constructor(&mut self, name: &str) -> Option<Type> {
        let global = self.program.global(name)?;
        match global.meaning {
            Meaning::Constructor(..) | Meaning::Index(_) | Meaning::Constant(_) => {
                Some(self.vars.instance(&global.scheme))
            }
            _ => None,
        }
    }

    /// Checks a declaration of a `let` or of a net; gives the names that it declares.
    pub fn declare(&mut self, declaration: &Declaration) -> Checked<Vec<(String, Scheme)>> {
        match declaration {
            Declaration::Val(pattern, expr) => {
                self.vars.level += 1;
                let found = self.infer(expr)?;
                let outer = self.locals.len();
                self.check_pattern(pattern, &found)?;
                let bound = self.locals.split_off(outer);
                self.look_again()?;
                self.vars.level -= 1;
                let is_value = is_value(expr);
                Ok(bound
                    .into_iter()
                    .map(|(name, scheme)| {
                        let general = self.vars.generalised(&scheme.of);
                        (name, if is_value { general } else { self.weak(general) })
                    })
                    .collect())
            }
            Declaration::Fun(functions) => self.functions(functions),
            _ => unreachable!("the program declares colour sets and variables itself"),
        }
    }

    /// A value that is computed keeps one type: its variables are not free.
    fn weak(&mut self, general: Scheme) -> Scheme {
        Scheme::mono(self.vars.instance(&general))
    }

    fn functions(&mut self, functions: &[Fun]) -> Checked<Vec<(String, Scheme)>> {
        self.vars.level += 1;
        let outer = self.locals.len();
        let outer_vars = self.type_vars.clone();
        let types: Vec<_> = functions.iter().map(|_| self.vars.fresh(Class::Any)).collect();
        for (function, of) in functions.iter().zip(&types) {
            self.bind(&function.name, of.clone());
        }
        for (function, of) in functions.iter().zip(&types) {
            for clause in &function.clauses {
                let found = self.clause(clause)?;
                self.expect(function.at, of, &found)?;
            }
        }
        self.look_again()?;
        self.locals.truncate(outer);
        self.type_vars = outer_vars;
        self.vars.level -= 1;
        Ok(functions
            .iter()
            .zip(types)
            .map(|(function, of)| (function.name.clone(), self.vars.generalised(&of)))
            .collect())
    }

    fn clause(&mut self, clause: &Clause) -> Checked<Type> {
        let outer = self.locals.len();
        let parameters: Vec<_> = clause.parameters.iter().map(|_| self.vars.fresh(Class::Any)).collect();
        for (pattern, of) in clause.parameters.iter().zip(&parameters) {
            self.check_pattern(pattern, of)?;
        }
        let mut result = self.infer(&clause.body)?;
        if let Some(annotated) = &clause.result {
            let written = self.written(annotated)?;
            self.expect(clause.body.at, &written, &result)?;
            result = written;
        }
        self.locals.truncate(outer);
        Ok(parameters.into_iter().rev().fold(result, |to, from| Type::function(from, to)))
    }

    /// Notes that a record has fields; finds them at once if the record is known.
    fn want(
        &mut self,
        record: &Type,
        labels: Vec<String>,
        fields: Vec<Type>,
        places: &Places,
        at: usize,
    ) -> Checked<()> {
        let (record, places) = (record.clone(), places.clone());
        self.waiting.push(Waiting { record, labels, fields, places, at });
        self.look_again()
    }

    fn look_again(&mut self) -> Checked<()> {
        for waiting in std::mem::take(&mut self.waiting) {
            match self.vars.head(&waiting.record) {
                Type::Var(_) => self.waiting.push(waiting),
                known => self.found(&waiting, &known)?,
            }
        }
        Ok(())
    }

    fn found(&mut self, waiting: &Waiting, record: &Type) -> Checked<()> {
        let mut places = Vec::with_capacity(waiting.labels.len());
        for (label, field) in waiting.labels.iter().zip(&waiting.fields) {
            let place = match record {
                Type::Record(labels, _) => labels.iter().position(|known| known == label),
                Type::Tuple(parts) => label
                    .parse()
                    .ok()
                    .filter(|&number: &usize| number <= parts.len())
                    .map(|number| number - 1),
                _ => None,
            };
            let (Some(place), Type::Record(_, parts) | Type::Tuple(parts)) = (place, record) else {
                let shown = self.vars.shown(record);
                return Err(MlError::new(
                    waiting.at,
                    format!("a value of type {shown} has no field `{label}`"),
                ));
            };
            let of = parts[place].clone();
            self.expect(waiting.at, &of, field)?;
            places.push(place as u32);
        }
        *waiting.places.borrow_mut() = places;
        Ok(())
    }

    /// The type that is written.
    pub fn written(&mut self, of: &TypeExpr) -> Checked<Type> {
        match &of.kind {
            TypeKind::Var(name) => {
                let fresh = match name.as_str() {
                    "'number" => Class::Number,
                    "'ordered" => Class::Ordered,
                    "'sized" => Class::Sized,
                    _ => Class::Any,
                };
                if let Some(known) = self.type_vars.get(name) {
                    return Ok(known.clone());
                }
                let fresh = self.vars.fresh(fresh);
                self.type_vars.insert(name.clone(), fresh.clone());
                Ok(fresh)
            }
            TypeKind::Name(name, arguments) => {
                let arguments = arguments.iter().map(|of| self.written(of)).collect::<Checked<Vec<_>>>()?;
                self.program.type_named(name, arguments).map_err(|message| MlError::new(of.at, message))
            }
            TypeKind::Tuple(parts) => {
                Ok(Type::Tuple(parts.iter().map(|part| self.written(part)).collect::<Checked<_>>()?))
            }
            TypeKind::Record(fields) => {
                let mut found = fields
                    .iter()
                    .map(|(label, of)| Ok((label.clone(), self.written(of)?)))
                    .collect::<Checked<Vec<_>>>()?;
                found.sort_by(|a, b| a.0.cmp(&b.0));
                let (labels, types): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                Ok(Type::Record(labels.into(), types))
            }
            TypeKind::Fn(from, to) => Ok(Type::function(self.written(from)?, self.written(to)?)),
        }
    }
}

fn of_literal(value: &Value) -> Type {
    match value {
        Value::Unit => Type::unit(),
        Value::Bool(_) => Type::bool(),
        Value::Int(_) => Type::int(),
        Value::Real(_) => Type::real(),
        _ => Type::string(),
    }
}

/// Operators whose operands have one type: its class, and the type of the result if it is another one.
fn same_on_both_sides(operator: &str) -> Option<(Class, Option<Type>)> {
    Some(match operator {
        "+" | "-" | "*" => (Class::Number, None),
        "<" | ">" | "<=" | ">=" => (Class::Ordered, Some(Type::bool())),
        "=" | "<>" => (Class::Any, Some(Type::bool())),
        _ => return None,
    })
}

/// True for expressions that compute nothing, whose types may be general.
fn is_value(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Fn(_) | ExprKind::Name(_) | ExprKind::Literal(_) | ExprKind::Select(..) => true,
        ExprKind::List(items) | ExprKind::Tuple(items) => items.iter().all(is_value),
        ExprKind::Typed(of, _) => is_value(of),
        _ => false,
    }
}
