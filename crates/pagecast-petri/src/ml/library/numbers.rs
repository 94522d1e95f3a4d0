//! Functions of integers, real numbers, truth values, options and time.

use super::super::machine::{Fault, Machine};
use super::{Entry, NONE, exceptions, int, is_true, order, real, some, taken};
use crate::colset::{shown_int, shown_real};
use crate::value::Value;

pub(super) const ENTRIES: &[Entry] = &[
    (&["abs", "Int.abs", "Real.abs"], "'number -> 'number", |_, a| match a[0] {
        Value::Int(value) => value.checked_abs().map(Value::Int).ok_or_else(too_large),
        _ => Ok(Value::Real(real(&a[0]).abs())),
    }),
    (&["~"], "'number -> 'number", |_, a| match a[0] {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(too_large),
        _ => Ok(Value::Real(-real(&a[0]))),
    }),
    (&["Int.max", "IntInf.max"], "int * int -> int", |_, a| Ok(Value::Int(int(&a[0]).max(int(&a[1]))))),
    (&["Int.min", "IntInf.min"], "int * int -> int", |_, a| Ok(Value::Int(int(&a[0]).min(int(&a[1]))))),
    (&["Int.sign"], "int -> int", |_, a| Ok(Value::Int(int(&a[0]).signum()))),
    // `div` and `mod` round down, these towards 0.
    (&["Int.quot", "IntInf.quot"], "int * int -> int", |_, a| match int(&a[1]) {
        0 => Err(Fault::new(exceptions::DIV, "division by 0")),
        by => int(&a[0]).checked_div(by).map(Value::Int).ok_or_else(too_large),
    }),
    (&["Int.rem", "IntInf.rem"], "int * int -> int", |_, a| match int(&a[1]) {
        0 => Err(Fault::new(exceptions::DIV, "division by 0")),
        by => Ok(Value::Int(int(&a[0]).wrapping_rem(by))),
    }),
    (&["Int.toString", "IntInf.toString"], "int -> string", |_, a| Ok(Value::str(&shown_int(int(&a[0]))))),
    (&["Int.fromString", "IntInf.fromString"], "string -> int option", |_, a| {
        let digits = super::text(&a[0]).trim_start().replace('~', "-");
        let end = digits.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && *c == '-'));
        let number = digits[..end.map_or(digits.len(), |(at, _)| at)].parse();
        Ok(number.map_or(NONE, |number| some(Value::Int(number))))
    }),
    (&["Int.compare", "IntInf.compare"], "int * int -> order", |_, a| Ok(order(int(&a[0]).cmp(&int(&a[1]))))),
    // All integers have 64 bits here.
    (
        &[
            "IntInf.fromInt",
            "IntInf.toInt",
            "Int.toInt",
            "Int.fromInt",
            "Int.toLarge",
            "Int.fromLarge",
            "IntInf.toLarge",
        ],
        "int -> int",
        |_, a| Ok(taken(a, 0)),
    ),
    (&["real", "Real.fromInt"], "int -> real", |_, a| Ok(Value::Real(int(&a[0]) as f64))),
    (&["floor", "Real.floor"], "real -> int", |_, a| whole(real(&a[0]).floor())),
    (&["ceil", "Real.ceil"], "real -> int", |_, a| whole(real(&a[0]).ceil())),
    (&["trunc", "Real.trunc"], "real -> int", |_, a| whole(real(&a[0]).trunc())),
    // Half goes to the even neighbour.
    (&["round", "Real.round"], "real -> int", |_, a| whole(real(&a[0]).round_ties_even())),
    (&["Real.max"], "real * real -> real", |_, a| Ok(Value::Real(real(&a[0]).max(real(&a[1]))))),
    (&["Real.min"], "real * real -> real", |_, a| Ok(Value::Real(real(&a[0]).min(real(&a[1]))))),
    (&["Real.toString"], "real -> string", |_, a| Ok(Value::str(&shown_real(real(&a[0]))))),
    (&["Real.compare"], "real * real -> order", |_, a| Ok(order(real(&a[0]).total_cmp(&real(&a[1]))))),
    (&["Math.sqrt"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).sqrt()))),
    (&["Math.exp"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).exp()))),
    (&["Math.ln"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).ln()))),
    (&["Math.log10"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).log10()))),
    (&["Math.sin"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).sin()))),
    (&["Math.cos"], "real -> real", |_, a| Ok(Value::Real(real(&a[0]).cos()))),
    (&["Math.pow"], "real * real -> real", |_, a| Ok(Value::Real(real(&a[0]).powf(real(&a[1]))))),
    (&["not"], "bool -> bool", |_, a| Ok(Value::Bool(!is_true(&a[0])))),
    (&["Bool.toString"], "bool -> string", |_, a| Ok(Value::str(&is_true(&a[0]).to_string()))),
    (&["isSome", "Option.isSome"], "'a option -> bool", |_, a| Ok(Value::Bool(a[0] != NONE))),
    (&["valOf", "Option.valOf"], "'a option -> 'a", |_, a| match &a[0] {
        Value::Apply(_, value) => Ok((**value).clone()),
        _ => Err(Fault::new(exceptions::OPTION, "valOf of NONE")),
    }),
    (&["getOpt", "Option.getOpt"], "'a option * 'a -> 'a", |_, a| match &a[0] {
        Value::Apply(_, value) => Ok((**value).clone()),
        _ => Ok(taken(a, 1)),
    }),
    (&["Option.map"], "('a -> 'b) -> 'a option -> 'b option", |machine, a| match &a[1] {
        Value::Apply(_, value) => Ok(some(machine.apply(&a[0], (**value).clone())?)),
        _ => Ok(NONE),
    }),
    (&["ref"], "'a -> 'a ref", |machine, a| {
        machine.state.cells.push(taken(a, 0));
        Ok(Value::Ref(machine.state.cells.len() as u32 - 1))
    }),
    (&["!"], "'a ref -> 'a", |machine, a| match a[0] {
        Value::Ref(cell) => Ok(machine.state.cells[cell as usize].clone()),
        _ => unreachable!("the type check wants a reference"),
    }),
    (&["inc"], "int ref -> unit", |machine, a| add(machine, &a[0], 1)),
    (&["dec"], "int ref -> unit", |machine, a| add(machine, &a[0], -1)),
    (&["ignore"], "'a -> unit", |_, _| Ok(Value::Unit)),
    (&["ModelTime.toString"], "time -> string", |machine, a| Ok(Value::str(&machine.program.shown(&a[0])))),
    (&["time", "ModelTime.time"], "unit -> time", |machine, _| Ok(machine.time())),
    (&["intTime"], "unit -> int", |machine, _| match machine.time() {
        Value::Real(time) => whole(time.floor()),
        time => Ok(time),
    }),
    (&["step"], "unit -> int", |machine, _| Ok(Value::Int(machine.state.steps as i64))),
];

impl Machine<'_> {
    /// The model time as a value.
    pub fn time(&self) -> Value {
        match self.program.time {
            super::super::program::TimeKind::Integer => Value::Int(self.state.now.0),
            super::super::program::TimeKind::Real => Value::Real(self.state.now.as_real()),
        }
    }
}

fn add(machine: &mut Machine<'_>, cell: &Value, more: i64) -> super::Evaluated {
    let Value::Ref(cell) = *cell else { unreachable!("the type check wants a reference") };
    let sum = int(&machine.state.cells[cell as usize]).checked_add(more).ok_or_else(too_large)?;
    machine.state.cells[cell as usize] = Value::Int(sum);
    Ok(Value::Unit)
}

fn too_large() -> Box<Fault> {
    Fault::new(exceptions::OVERFLOW, "an integer of more than 64 bits")
}

fn whole(value: f64) -> super::Evaluated {
    if value >= -(2_f64.powi(63)) && value < 2_f64.powi(63) {
        return Ok(Value::Int(value as i64));
    }
    Err(too_large())
}
