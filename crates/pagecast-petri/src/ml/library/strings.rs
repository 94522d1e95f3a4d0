//! Functions of strings and characters; a character is a string of one.

use super::super::machine::{Fault, LONGEST, Machine, list_of};
use super::{Entry, Evaluated, exceptions, int, is_true, order, taken, text};
use crate::value::Value;

pub(super) const ENTRIES: &[Entry] = &[
    (&["size", "String.size"], "'sized -> int", |_, a| {
        Ok(Value::Int(match &a[0] {
            Value::Str(text) => text.chars().count() as i64,
            Value::List(list) => list.len() as i64,
            Value::Ms(multiset) => multiset.len() as i64,
            other => unreachable!("the type check lets {other:?} have no size"),
        }))
    }),
    (&["concat", "String.concat"], "string list -> string", |_, a| joined(taken(a, 0), "")),
    (&["String.concatWith"], "string -> string list -> string", |_, a| {
        let between = text(&a[0]).to_owned();
        joined(taken(a, 1), &between)
    }),
    (&["implode", "String.implode"], "char list -> string", |_, a| joined(taken(a, 0), "")),
    (&["explode", "String.explode"], "string -> char list", |_, a| {
        Ok(Value::list(text(&a[0]).chars().map(|c| Value::str(c.encode_utf8(&mut [0; 4]))).collect()))
    }),
    (&["str", "String.str"], "char -> string", |_, a| Ok(taken(a, 0))),
    (&["String.sub"], "string * int -> char", |_, a| part(text(&a[0]), int(&a[1]), Some(1))),
    (&["substring", "String.substring"], "string * int * int -> string", |_, a| {
        part(text(&a[0]), int(&a[1]), Some(int(&a[2])))
    }),
    (&["String.extract"], "string * int * int option -> string", |_, a| match &a[2] {
        Value::Apply(_, length) => part(text(&a[0]), int(&a[1]), Some(int(length))),
        _ => part(text(&a[0]), int(&a[1]), None),
    }),
    (&["String.isPrefix"], "string -> string -> bool", |_, a| {
        Ok(Value::Bool(text(&a[1]).starts_with(text(&a[0]))))
    }),
    (&["String.isSuffix"], "string -> string -> bool", |_, a| {
        Ok(Value::Bool(text(&a[1]).ends_with(text(&a[0]))))
    }),
    (&["String.isSubstring"], "string -> string -> bool", |_, a| {
        Ok(Value::Bool(text(&a[1]).contains(text(&a[0]))))
    }),
    (&["String.compare"], "string * string -> order", |_, a| Ok(order(text(&a[0]).cmp(text(&a[1]))))),
    (&["String.map"], "(char -> char) -> string -> string", |machine, a| {
        let mut found = String::new();
        for c in text(&a[1]).chars() {
            found.push_str(text(&machine.apply(&a[0], Value::str(c.encode_utf8(&mut [0; 4])))?));
        }
        Ok(Value::str(&found))
    }),
    (&["String.fields"], "(char -> bool) -> string -> string list", |machine, a| {
        Ok(Value::list(fields(machine, a)?.iter().map(|field| Value::str(field)).collect()))
    }),
    (&["String.tokens"], "(char -> bool) -> string -> string list", |machine, a| {
        let fields = fields(machine, a)?;
        Ok(Value::list(
            fields.iter().filter(|field| !field.is_empty()).map(|field| Value::str(field)).collect(),
        ))
    }),
    // There is nowhere to print to.
    (&["print"], "string -> unit", |_, _| Ok(Value::Unit)),
    (&["ord", "Char.ord"], "char -> int", |_, a| {
        Ok(Value::Int(text(&a[0]).chars().next().map_or(0, |c| i64::from(u32::from(c)))))
    }),
    (&["chr", "Char.chr"], "int -> char", |_, a| {
        let code = u32::try_from(int(&a[0])).ok().filter(|&code| code < 256).and_then(char::from_u32);
        match code {
            Some(c) => Ok(Value::str(c.encode_utf8(&mut [0; 4]))),
            None => Err(Fault::new(exceptions::CHR, format!("there is no character {}", int(&a[0])))),
        }
    }),
    (&["Char.isDigit"], "char -> bool", |_, a| is(&a[0], |c| c.is_ascii_digit())),
    (&["Char.isAlpha"], "char -> bool", |_, a| is(&a[0], |c| c.is_ascii_alphabetic())),
    (&["Char.isSpace"], "char -> bool", |_, a| is(&a[0], |c| c.is_ascii_whitespace())),
    (&["Char.toUpper"], "char -> char", |_, a| Ok(Value::str(&text(&a[0]).to_ascii_uppercase()))),
    (&["Char.toLower"], "char -> char", |_, a| Ok(Value::str(&text(&a[0]).to_ascii_lowercase()))),
];

/// The parts of a string between the characters for which a function is true.
fn fields(machine: &mut Machine<'_>, a: &[Value]) -> Evaluated<Vec<String>> {
    let mut found = vec![String::new()];
    for c in text(&a[1]).chars() {
        if is_true(&machine.apply(&a[0], Value::str(c.encode_utf8(&mut [0; 4])))?) {
            found.push(String::new());
        } else {
            found.last_mut().expect("there is one").push(c);
        }
    }
    Ok(found)
}

fn is(value: &Value, kind: impl Fn(char) -> bool) -> Evaluated {
    Ok(Value::Bool(text(value).chars().all(kind)))
}

fn joined(list: Value, between: &str) -> Evaluated {
    let list = list_of(list)?;
    let mut found = String::new();
    for (at, item) in list.as_slice().iter().enumerate() {
        if at > 0 {
            found.push_str(between);
        }
        found.push_str(text(item));
        if found.len() > LONGEST {
            return Err(Fault::new(exceptions::SIZE, format!("a string of more than {LONGEST} bytes")));
        }
    }
    Ok(Value::str(&found))
}

fn part(of: &str, start: i64, length: Option<i64>) -> Evaluated {
    let characters: Vec<char> = of.chars().collect();
    let wrong = || {
        Fault::new(
            exceptions::SUBSCRIPT,
            format!("a string of {} characters has none there", of.chars().count()),
        )
    };
    let start = usize::try_from(start).map_err(|_| wrong())?;
    let end = match length {
        None => characters.len(),
        Some(length) => start.checked_add(usize::try_from(length).map_err(|_| wrong())?).ok_or_else(wrong)?,
    };
    Ok(Value::str(&characters.get(start..end).ok_or_else(wrong)?.iter().collect::<String>()))
}
