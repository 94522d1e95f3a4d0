//! The library of CPN ML: the functions of Standard ML's basis and of CPN Tools that nets use.
//!
//! Source: *The Standard ML Basis Library* (Gansner and Reppy, 2004) and the help pages of CPN Tools on lists, multisets and random
//! distributions.

mod lists;
mod multisets;
mod numbers;
mod randoms;
mod strings;

use std::sync::LazyLock;

use super::check::Checker;
use super::code::{Callee, Function};
use super::machine::{Evaluated, Machine};
use super::parser::Parser;
use super::program::{Meaning, Program};
use super::types::Scheme;
use crate::value::{Symbol, Value};

/// The constructors that are always there, and the exceptions of the library, in the order of `NAMES`.
pub mod exceptions {
    use crate::value::Symbol;

    /// Constructors and exceptions, by number.
    pub const NAMES: [&str; 17] = [
        "NONE",
        "SOME",
        "LESS",
        "EQUAL",
        "GREATER",
        "Empty",
        "Subscript",
        "Div",
        "Overflow",
        "Match",
        "Bind",
        "Chr",
        "Size",
        "Domain",
        "Option",
        "Subtract",
        "Fail",
    ];
    /// `NONE`.
    pub const NONE: Symbol = Symbol(0);
    /// `SOME`.
    pub const SOME: Symbol = Symbol(1);
    /// `LESS`.
    pub const LESS: Symbol = Symbol(2);
    /// `EQUAL`.
    pub const EQUAL: Symbol = Symbol(3);
    /// `GREATER`.
    pub const GREATER: Symbol = Symbol(4);
    /// An empty list has no head.
    pub const EMPTY: Symbol = Symbol(5);
    /// No such item.
    pub const SUBSCRIPT: Symbol = Symbol(6);
    /// Division by 0.
    pub const DIV: Symbol = Symbol(7);
    /// Too large.
    pub const OVERFLOW: Symbol = Symbol(8);
    /// No pattern fits.
    pub const MATCH: Symbol = Symbol(9);
    /// The pattern of `val` does not fit.
    pub const BIND: Symbol = Symbol(10);
    /// No such character.
    pub const CHR: Symbol = Symbol(11);
    /// Too long, or a negative size.
    pub const SIZE: Symbol = Symbol(12);
    /// Outside of what a function is defined for.
    pub const DOMAIN: Symbol = Symbol(13);
    /// `valOf NONE`.
    pub const OPTION: Symbol = Symbol(14);
    /// Tokens that are not there are taken away.
    pub const SUBTRACT: Symbol = Symbol(15);
}

type Run = fn(&mut Machine<'_>, &mut [Value]) -> Evaluated;

/// A function of the library.
#[derive(Debug)]
pub struct Builtin {
    /// Its names.
    pub names: &'static [&'static str],
    /// Its type, as it is written.
    pub of: &'static str,
    /// How many arguments it takes one after the other.
    pub parameters: usize,
    /// True if its one argument is a tuple, which it takes in parts.
    pub is_spread: bool,
    /// How many values it gets.
    pub arguments: usize,
    /// The function itself.
    pub run: Run,
}

/// Names, type and what it does; the rest follows from the type.
type Entry = (&'static [&'static str], &'static str, Run);

static LIBRARY: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let all = [numbers::ENTRIES, strings::ENTRIES, lists::ENTRIES, multisets::ENTRIES, randoms::ENTRIES];
    all.into_iter().flatten().map(builtin).collect()
});

fn builtin(&(names, of, run): &Entry) -> Builtin {
    let parts = at_top_level(of, "->");
    let parameters = parts.len() - 1;
    let width = at_top_level(parts[0], "*").len();
    let is_spread = parameters == 1 && width > 1;
    Builtin { names, of, parameters, is_spread, arguments: if is_spread { width } else { parameters }, run }
}

/// The parts of a type between signs that are in no brackets.
fn at_top_level<'a>(of: &'a str, sign: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in of.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= start && of[at..].starts_with(sign) => {
                parts.push(&of[start..at]);
                start = at + sign.len();
            }
            _ => {}
        }
    }
    parts.push(&of[start..]);
    parts
}

/// Declares the library in a program.
pub fn declare(program: &mut Program) {
    let [none, some, less, equal, greater] = [0, 1, 2, 3, 4].map(|at| exceptions::NAMES[at]);
    for name in exceptions::NAMES {
        program.symbol(name);
    }
    let scheme = |program: &Program, of: &str| scheme(program, of);
    let constants = [
        ("true", "bool", Value::Bool(true)),
        ("false", "bool", Value::Bool(false)),
        ("nil", "'a list", Value::list(Vec::new())),
    ];
    for (name, of, value) in constants {
        program.set(name, scheme(program, of), Meaning::Constant(value));
    }
    let values = [
        ("empty", "'a ms", Value::Ms(Default::default())),
        ("Math.pi", "real", Value::Real(std::f64::consts::PI)),
        ("Math.e", "real", Value::Real(std::f64::consts::E)),
    ];
    for (name, of, value) in values {
        program.set(name, scheme(program, of), Meaning::Value(value));
    }
    program.set(none, scheme(program, "'a option"), Meaning::Constructor(exceptions::NONE, false));
    program.set(some, scheme(program, "'a -> 'a option"), Meaning::Constructor(exceptions::SOME, true));
    for (name, at) in [(less, 2), (equal, 3), (greater, 4)] {
        program.set(name, scheme(program, "order"), Meaning::Constructor(Symbol(at), false));
    }
    for (at, name) in exceptions::NAMES.iter().enumerate().skip(5) {
        let has_argument = *name == "Fail";
        let of = if has_argument { "string -> exn" } else { "exn" };
        program.set(name, scheme(program, of), Meaning::Constructor(Symbol(at as u32), has_argument));
    }
    for builtin in &*LIBRARY {
        let scheme = scheme(program, builtin.of);
        for name in builtin.names {
            program.set(name, scheme.clone(), Meaning::Value(Function::value(Callee::Builtin(builtin))));
        }
    }
    operators(program);
}

/// `op +` and its kin as functions.
fn operators(program: &mut Program) {
    use super::code::Operator;
    let all = [
        ("+ - *", "'number * 'number -> 'number"),
        ("< > <= >=", "'ordered * 'ordered -> bool"),
        ("= <>", "'a * 'a -> bool"),
        ("/", "real * real -> real"),
        ("div mod", "int * int -> int"),
        ("^", "string * string -> string"),
        ("::", "'a * 'a list -> 'a list"),
        ("^^", "'a list * 'a list -> 'a list"),
        ("++ --", "'a ms * 'a ms -> 'a ms"),
    ];
    for (signs, of) in all {
        let scheme = scheme(program, of);
        for sign in signs.split(' ') {
            let operator = Operator::of(sign).expect("an operator");
            let value = Function::value(Callee::Operator(operator));
            program.set(&format!("op {sign}"), scheme.clone(), Meaning::Value(value));
        }
    }
}

fn scheme(program: &Program, of: &str) -> Scheme {
    let mut parser = Parser::new(of).expect("a type of ours");
    let written = parser.type_expression().expect("a type of ours");
    let mut checker = Checker::new(program);
    checker.vars.level = 1;
    let of = checker.written(&written).expect("a type of ours");
    checker.vars.level = 0;
    checker.vars.quantified(&of)
}

/// Takes an argument; the next call of the machine does not see it.
fn taken(arguments: &mut [Value], at: usize) -> Value {
    std::mem::replace(&mut arguments[at], Value::Unit)
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        other => unreachable!("the type check lets {other:?} be no integer"),
    }
}

fn real(value: &Value) -> f64 {
    match value {
        Value::Real(value) => *value,
        other => unreachable!("the type check lets {other:?} be no real number"),
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Str(text) => text,
        other => unreachable!("the type check lets {other:?} be no string"),
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        other => unreachable!("the type check lets {other:?} be no condition"),
    }
}

fn some(value: Value) -> Value {
    Value::Apply(exceptions::SOME, value.into())
}

const NONE: Value = Value::Con(exceptions::NONE);

fn order(of: std::cmp::Ordering) -> Value {
    Value::Con(match of {
        std::cmp::Ordering::Less => exceptions::LESS,
        std::cmp::Ordering::Equal => exceptions::EQUAL,
        std::cmp::Ordering::Greater => exceptions::GREATER,
    })
}
