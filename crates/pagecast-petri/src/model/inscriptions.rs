//! Parses the inscriptions of a transition and its arcs.

use crate::error::{MlError, Result, Where};
use crate::ml::ast::{Expr, ExprKind, Pattern, PatternKind};
use crate::ml::code::Match;
use crate::ml::lexer::Lexeme;
use crate::ml::parser::{Parser, expressions};
use crate::ml::types::Type;
use crate::value::Value;

/// Parses an inscription; none if it is blank.
pub fn parsed<T>(
    text: &str,
    place: &Where,
    parse: impl FnOnce(&str) -> std::result::Result<T, MlError>,
) -> Result<Option<T>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    parse(text).map(Some).map_err(|error| error.at(place.clone(), text))
}

/// The literal `()`.
pub fn unit(at: usize) -> Expr {
    Expr { kind: ExprKind::Literal(Value::Unit), at }
}

/// At a place without colours, a number stands for so many tokens.
pub fn counted(expr: Expr, colour: &Type) -> Expr {
    let at = expr.at;
    match expr.kind {
        ExprKind::Literal(Value::Int(_)) if *colour == Type::unit() => {
            Expr { kind: ExprKind::Binary("`", Box::new(expr), Box::new(unit(at))), at }
        }
        _ => expr,
    }
}

/// The conditions of a guard: one, or a list of them. `andalso` at the top parts them, too.
pub fn conditions(text: &str) -> std::result::Result<Vec<Expr>, MlError> {
    let mut found = Vec::new();
    for expr in expressions(text)? {
        match expr.kind {
            ExprKind::List(all) => all.into_iter().for_each(|expr| parts(expr, &mut found)),
            _ => parts(expr, &mut found),
        }
    }
    Ok(found)
}

fn parts(expr: Expr, found: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::And(a, b) => {
            parts(*a, found);
            parts(*b, found);
        }
        _ => found.push(expr),
    }
}

/// `@+ expression`; nothing behind the sign is no delay.
pub fn delay(text: &str) -> std::result::Result<Expr, MlError> {
    let mut parser = Parser::new(text)?;
    if !parser.takes_sign("@+") && !parser.takes_sign("@++") {
        return Err(parser.expected("`@+` and a delay"));
    }
    if *parser.peek() == Lexeme::End {
        return Ok(Expr { kind: ExprKind::Literal(Value::Int(0)), at: 0 });
    }
    let found = parser.expression()?;
    parser.end()?;
    Ok(found)
}

/// A code segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The variables that take its result.
    pub outputs: Vec<String>,
    /// The expression of the action.
    pub action: Expr,
}

impl Segment {
    /// Parses a code segment.
    pub fn parse(text: &str) -> std::result::Result<Self, MlError> {
        let mut parser = Parser::new(text)?;
        let names = |word: &str, parser: &mut Parser| -> std::result::Result<Vec<String>, MlError> {
            if !parser.takes_name(word) {
                return Ok(Vec::new());
            }
            let pattern = parser.pattern()?;
            while parser.takes_sign(";") {}
            variables_of(&pattern)
        };
        names("input", &mut parser)?;
        let outputs = names("output", &mut parser)?;
        if !parser.takes_name("action") {
            return Err(parser.expected("`input`, `output` or `action`"));
        }
        let at = parser.at();
        let mut all = Vec::new();
        while *parser.peek() != Lexeme::End {
            all.push(parser.expression()?);
            if !parser.takes_sign(";") {
                break;
            }
        }
        parser.end()?;
        let action = match all.len() {
            0 => unit(at),
            1 => all.remove(0),
            _ => Expr { kind: ExprKind::Sequence(all), at },
        };
        Ok(Self { outputs, action })
    }

    /// How the result is stored.
    pub fn result(&self, names: &[String]) -> Match {
        let slot = |name: &String| {
            let slot = names.iter().position(|known| known == name).expect("an output is a variable");
            Match::Bind(slot as u32)
        };
        match &self.outputs[..] {
            [] => Match::Any,
            [one] => slot(one),
            all => Match::Tuple(all.iter().map(slot).collect()),
        }
    }
}

fn variables_of(pattern: &Pattern) -> std::result::Result<Vec<String>, MlError> {
    match &pattern.kind {
        PatternKind::Name(name) => Ok(vec![name.clone()]),
        PatternKind::Literal(Value::Unit) => Ok(Vec::new()),
        PatternKind::Tuple(all) => {
            let names = all.iter().map(variables_of).collect::<std::result::Result<Vec<_>, _>>()?;
            Ok(names.concat())
        }
        _ => Err(MlError::new(pattern.at, "expected variables, as in `input (x, y);`")),
    }
}
