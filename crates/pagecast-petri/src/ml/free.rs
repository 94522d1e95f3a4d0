//! Finds the names that an expression takes from around it.

use super::ast::{Declaration, Expr, ExprKind, Pattern, PatternKind, Rule};

/// The free names of an expression, each once, in the order of their first use.
pub fn names(expr: &Expr) -> Vec<String> {
    let mut finder = Finder::default();
    finder.expression(expr);
    finder.found
}

/// The names that a pattern binds or compares with, and the free ones of its expressions.
pub fn pattern_names(pattern: &Pattern) -> Vec<String> {
    let mut finder = Finder::default();
    finder.used_in(pattern);
    finder.found
}

#[derive(Default)]
struct Finder {
    bound: Vec<String>,
    found: Vec<String>,
}

impl Finder {
    fn name(&mut self, name: &str) {
        if !self.bound.iter().any(|bound| bound == name) && !self.found.iter().any(|found| found == name) {
            self.found.push(name.to_owned());
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Select(..) => {}
            ExprKind::Name(name) => self.name(name),
            ExprKind::Tuple(all) | ExprKind::List(all) | ExprKind::Sequence(all) => {
                all.iter().for_each(|expr| self.expression(expr));
            }
            ExprKind::Record(fields) => fields.iter().for_each(|(_, field)| self.expression(field)),
            ExprKind::Apply(a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) | ExprKind::Binary(_, a, b) => {
                self.expression(a);
                self.expression(b);
            }
            ExprKind::Fn(rules) => self.rules(rules),
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|expr| self.expression(expr)),
            ExprKind::Case(of, rules) | ExprKind::Handle(of, rules) => {
                self.expression(of);
                self.rules(rules);
            }
            ExprKind::Let(declared, body) => {
                let outer = self.bound.len();
                for declaration in declared {
                    self.declaration(declaration);
                }
                self.expression(body);
                self.bound.truncate(outer);
            }
            ExprKind::Typed(of, _) | ExprKind::Raise(of) => self.expression(of),
        }
    }

    fn rules(&mut self, rules: &[Rule]) {
        for rule in rules {
            let outer = self.bound.len();
            self.bind(&rule.pattern);
            self.expression(&rule.body);
            self.bound.truncate(outer);
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Val(pattern, expr) => {
                self.expression(expr);
                self.bind(pattern);
            }
            Declaration::Fun(functions) => {
                self.bound.extend(functions.iter().map(|function| function.name.clone()));
                for clause in functions.iter().flat_map(|function| &function.clauses) {
                    let outer = self.bound.len();
                    clause.parameters.iter().for_each(|pattern| self.bind(pattern));
                    self.expression(&clause.body);
                    self.bound.truncate(outer);
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, pattern: &Pattern) {
        let mut inner = Finder::default();
        inner.used_in(pattern);
        self.bound.extend(inner.found);
    }

    fn used_in(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Any | PatternKind::Literal(_) => {}
            PatternKind::Name(name) => self.name(name),
            PatternKind::Tuple(all) | PatternKind::List(all) => {
                all.iter().for_each(|inner| self.used_in(inner))
            }
            PatternKind::Record(fields, ..) => fields.iter().for_each(|(_, field)| self.used_in(field)),
            PatternKind::Cons(a, b) => {
                self.used_in(a);
                self.used_in(b);
            }
            PatternKind::Apply(_, of) | PatternKind::Typed(of, _) => self.used_in(of),
            PatternKind::As(name, of) => {
                self.name(name);
                self.used_in(of);
            }
            PatternKind::Equal(expr) => self.expression(expr),
        }
    }
}

/// The names that a declaration uses, for the search of functions that depend on time or references.
pub fn declaration_names(declaration: &Declaration) -> Vec<String> {
    let mut finder = Finder::default();
    finder.declaration(declaration);
    finder.found
}
