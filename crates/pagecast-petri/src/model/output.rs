//! Compiles the inscriptions that add tokens.

use super::Output;
use crate::colset::Kind;
use crate::error::MlError;
use crate::ml::ast::{Expr, ExprKind};
use crate::ml::lower::Lowering;
use crate::ml::program::{Meaning, Program};
use crate::value::Value;

/// Compiles a checked inscription.
pub fn output(
    lowering: &mut Lowering<'_>,
    program: &Program,
    expr: &Expr,
    lists_are_colours: bool,
) -> Result<Output, MlError> {
    let compiler = Compiler { program, lists_are_colours };
    compiler.output(lowering, &with_delay_outside(expr.clone()))
}

/// `if a then b else c @+ d` delays both, as CPN Tools reads it.
pub fn with_delay_outside(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::If(condition, then, otherwise) if !is_delayed(&then) => {
            let otherwise = with_delay_outside(*otherwise);
            match otherwise.kind {
                ExprKind::Binary(sign @ ("@+" | "@++"), inner, delay) => {
                    let kind = ExprKind::If(condition, then, inner);
                    let both = Box::new(Expr { kind, at: expr.at });
                    Expr { kind: ExprKind::Binary(sign, both, delay), at: otherwise.at }
                }
                _ => Expr { kind: ExprKind::If(condition, then, Box::new(otherwise)), at: expr.at },
            }
        }
        kind => Expr { kind, at: expr.at },
    }
}

fn is_delayed(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary("@+" | "@++" | "@", ..))
}

struct Compiler<'p> {
    program: &'p Program,
    lists_are_colours: bool,
}

impl Compiler<'_> {
    fn output(&self, lowering: &mut Lowering<'_>, expr: &Expr) -> Result<Output, MlError> {
        Ok(match &expr.kind {
            ExprKind::Name(name) if name == "empty" => Output::Empty,
            ExprKind::Binary("`", count, colour) => {
                let (count, colour) = (lowering.expression(count)?, lowering.expression(colour)?);
                match Program::constant(&count) {
                    Some(Value::Int(1)) => Output::One(colour),
                    Some(Value::Int(0)) => Output::Empty,
                    _ => Output::Many(count, colour),
                }
            }
            ExprKind::Binary("++" | "+++", a, b) => {
                let mut terms = Vec::new();
                self.terms(lowering, a, &mut terms)?;
                self.terms(lowering, b, &mut terms)?;
                Output::Sum(terms.into())
            }
            ExprKind::If(condition, then, otherwise) => {
                let condition = lowering.expression(condition)?;
                Output::If(
                    condition,
                    Box::new([self.output(lowering, then)?, self.output(lowering, otherwise)?]),
                )
            }
            ExprKind::Binary("@+" | "@++", of, delay) => {
                Output::Delayed(Box::new(self.output(lowering, of)?), lowering.expression(delay)?)
            }
            ExprKind::Binary("@", of, time) => {
                Output::Stamped(Box::new(self.output(lowering, of)?), lowering.expression(time)?)
            }
            _ if self.is_colour(expr) => Output::One(lowering.expression(expr)?),
            _ => Output::Multiset(lowering.expression(expr)?, self.lists_are_colours),
        })
    }

    /// A row of sums is one sum.
    fn terms(
        &self,
        lowering: &mut Lowering<'_>,
        expr: &Expr,
        found: &mut Vec<Output>,
    ) -> Result<(), MlError> {
        let (mut rest, mut later) = (expr, Vec::new());
        while let ExprKind::Binary("++" | "+++", a, b) = &rest.kind {
            later.push(&**b);
            rest = a;
        }
        found.push(self.output(lowering, rest)?);
        for term in later.into_iter().rev() {
            found.push(self.output(lowering, term)?);
        }
        Ok(())
    }

    /// True for what is surely no multiset.
    fn is_colour(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Tuple(_) | ExprKind::Record(_) => true,
            ExprKind::List(_) => self.lists_are_colours,
            ExprKind::Name(name) => match self.program.global(name).map(|global| &global.meaning) {
                Some(Meaning::Value(value)) => !matches!(value, Value::Ms(_) | Value::List(_)),
                Some(_) => true,
                // Variables of the net hold colours, but a list may stand for a multiset.
                None => {
                    let colset =
                        self.program.variables.get(name).map(|&colset| &self.program.colsets[colset]);
                    self.lists_are_colours || !colset.is_some_and(|of| matches!(of.kind, Kind::List(..)))
                }
            },
            ExprKind::Apply(function, _) => match &function.kind {
                ExprKind::Name(name) => matches!(
                    self.program.global(name).map(|global| &global.meaning),
                    Some(Meaning::Constructor(..) | Meaning::Index(_))
                ),
                _ => false,
            },
            ExprKind::Binary(sign, ..) => {
                matches!(
                    *sign,
                    "+" | "-" | "*" | "/" | "div" | "mod" | "^" | "=" | "<>" | "<" | ">" | "<=" | ">="
                ) || matches!(*sign, "::" | "^^") && self.lists_are_colours
            }
            ExprKind::And(..) | ExprKind::Or(..) => true,
            ExprKind::Typed(of, _) => self.is_colour(of),
            _ => false,
        }
    }
}

/// True if tokens get a stamp of their own.
pub fn is_stamped(output: &Output) -> bool {
    match output {
        Output::Delayed(..) | Output::Stamped(..) => true,
        Output::Sum(terms) => terms.iter().any(is_stamped),
        Output::If(_, both) => both.iter().any(is_stamped),
        _ => false,
    }
}
