//! Represents colour sets: which values are in them, in which order, and how they are written.

use crate::ml::library::exceptions;
use crate::ml::machine::{Evaluated, Fault};
use crate::ml::program::{Program, TimeKind};
use crate::ml::types::Type;
use crate::random::Draws;
use crate::value::{Multiset, Symbol, Tokens, Value, When};

/// A colour set that is enumerated has at most so many elements; CPN Tools binds variables of sets up to 100 by trying all.
pub const LARGEST_DOMAIN: u64 = 100_000;

/// A colour set.
#[derive(Clone, Debug)]
pub struct Colset {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub of: Type,
    /// Its constructor, with the colour sets in it.
    pub kind: Kind,
    /// True if its tokens have time stamps.
    pub timed: bool,
    /// True if its type has values that it does not have.
    pub is_restricted: bool,
}

/// The kinds of colour sets; others are given by their numbers.
#[derive(Clone, Debug)]
pub enum Kind {
    /// One element, perhaps with a name.
    Unit(Option<String>),
    /// `false` and `true`, perhaps with other names.
    Bool(Option<(String, String)>),
    /// Integers, perhaps of a range.
    Int(Option<(i64, i64)>),
    /// Real numbers, perhaps of a range.
    Real(Option<(f64, f64)>),
    /// Strings, perhaps of characters of a range, and of lengths of a range.
    Str(Option<(String, String)>, Option<(i64, i64)>),
    /// Model times.
    Time,
    /// So many elements, from the first symbol.
    Enum(Symbol, u32),
    /// Elements of an index.
    Index(Symbol, i64, i64),
    /// A product.
    Product(Vec<usize>),
    /// A record: label, colour set and place of each field, in the order of the declaration.
    Record(Vec<(String, usize, usize)>),
    /// Lists, perhaps of lengths of a range.
    List(usize, Option<(i64, i64)>),
    /// Alternatives.
    Union(Vec<(Symbol, Option<usize>)>),
    /// The elements for which a function is true.
    SubsetBy(usize, Value),
    /// These elements.
    SubsetWith(usize, Vec<Value>),
}

/// The functions that every colour set has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ColsetFn {
    /// `all()`: the multiset of the elements.
    All,
    /// `ran()`: a random element.
    Random,
    /// `size()`: how many elements.
    Size,
    /// `ord x`: the number of an element, from 0.
    Ord,
    /// `col n`: the element of a number.
    Col,
    /// `legal x`: whether a value is an element.
    Legal,
    /// `mkstr x`: the element as it is written.
    Show,
    /// `mkstr_ms m`: the multiset as it is written.
    ShowMs,
    /// `lt (a, b)`.
    Less,
    /// `mult (a, b)`: the product of two multisets.
    Product,
    /// `set_f r v`: a record or a tuple with another value in a field, given by its place.
    Set(u32),
    /// `of_c u`: whether an element of a union has this constructor.
    Is(Symbol),
}

impl ColsetFn {
    /// The functions with their names and types, `C` for the elements.
    pub const ALL: [(&'static str, Self, &'static str); 12] = [
        ("all", Self::All, "unit -> C ms"),
        ("ran", Self::Random, "unit -> C"),
        ("size", Self::Size, "unit -> int"),
        ("ord", Self::Ord, "C -> int"),
        ("col", Self::Col, "int -> C"),
        ("legal", Self::Legal, "C -> bool"),
        ("inset", Self::Legal, "C -> bool"),
        ("mkstr", Self::Show, "C -> string"),
        ("mkst_col", Self::Show, "C -> string"),
        ("mkstr_ms", Self::ShowMs, "C ms -> string"),
        ("mkst_ms", Self::ShowMs, "C ms -> string"),
        ("lt", Self::Less, "C * C -> bool"),
    ];

    /// How many arguments it takes one after the other.
    pub fn parameters(self) -> usize {
        if matches!(self, Self::Set(_)) { 2 } else { 1 }
    }

    /// Calls the function; several arguments come as a tuple.
    pub fn call(self, program: &Program, colset: u32, argument: Value, draws: &mut Draws) -> Evaluated {
        let number = colset as usize;
        let colset = &program.colsets[number];
        let elements = || {
            program.elements(number).ok_or_else(|| {
                let text = format!("the colour set {} has too many elements to list", colset.name);
                Fault::new(exceptions::SIZE, text)
            })
        };
        Ok(match self {
            Self::All => {
                let tokens = elements()?.into_iter().map(|value| Tokens { value, when: When::NOW, count: 1 });
                Value::Ms(Multiset::collect(tokens.collect()).into())
            }
            Self::Random => {
                if let Kind::Int(Some((low, high))) = colset.kind {
                    let size = (high as i128 - low as i128 + 1) as u64;
                    return Ok(Value::Int(low + draws.below(size) as i64));
                }
                let elements = elements()?;
                elements[draws.below(elements.len() as u64) as usize].clone()
            }
            Self::Size => Value::Int(elements()?.len() as i64),
            Self::Ord => {
                let place = elements()?.iter().position(|element| *element == argument);
                Value::Int(place.ok_or_else(|| not_in(program, colset, &argument))? as i64)
            }
            Self::Col => {
                let Value::Int(at) = argument else { unreachable!("the type check wants an integer") };
                let mut elements = elements()?;
                match usize::try_from(at).ok().filter(|&at| at < elements.len()) {
                    Some(at) => elements.swap_remove(at),
                    None => {
                        let text = format!("the colour set {} has no element {at}", colset.name);
                        return Err(Fault::new(exceptions::SUBSCRIPT, text));
                    }
                }
            }
            Self::Legal => Value::Bool(program.contains(number, &argument)),
            Self::Show => Value::str(&program.shown_in(number, &argument)),
            Self::ShowMs => match argument {
                Value::Ms(multiset) => Value::str(&program.multiset_shown_in(number, &multiset)),
                other => unreachable!("the type check lets {other:?} be no multiset"),
            },
            Self::Less => match argument {
                Value::Tuple(both) => Value::Bool(both[0] < both[1]),
                other => unreachable!("the type check lets {other:?} be no pair"),
            },
            Self::Product => product(argument)?,
            Self::Set(place) => match &argument {
                Value::Tuple(both) => with_part(&both[0], place as usize, &both[1]),
                other => unreachable!("the type check lets {other:?} be no two arguments"),
            },
            Self::Is(wanted) => Value::Bool(
                matches!(argument, Value::Con(symbol) | Value::Apply(symbol, _) if symbol == wanted),
            ),
        })
    }
}

fn not_in(program: &Program, colset: &Colset, value: &Value) -> Box<Fault> {
    let text = format!("{} is not in the colour set {}", program.shown(value), colset.name);
    Fault::new(exceptions::SUBSCRIPT, text)
}

/// A tuple or a record with another value in a place.
fn with_part(of: &Value, place: usize, value: &Value) -> Value {
    let Value::Tuple(parts) = of else { unreachable!("the type check wants a tuple or a record") };
    let part = |(at, part)| if at == place { value } else { part };
    Value::tuple(parts.iter().enumerate().map(part).cloned().collect::<Vec<_>>())
}

/// All tuples of tokens of some multisets.
fn product(argument: Value) -> Evaluated {
    let Value::Tuple(parts) = argument else { unreachable!("the type check wants a tuple of multisets") };
    let mut all = vec![(Vec::new(), 1_u64)];
    for part in parts.iter() {
        let multiset = crate::ml::machine::multiset(part.clone());
        if all.len() * multiset.0.len() > LARGEST_DOMAIN as usize {
            return Err(Fault::new(exceptions::SIZE, "the product of multisets is too large"));
        }
        all = all
            .iter()
            .flat_map(|(values, count)| {
                multiset.0.iter().map(move |tokens| {
                    let mut longer: Vec<Value> = values.clone();
                    longer.push(tokens.value.clone());
                    (longer, count * tokens.count)
                })
            })
            .collect();
    }
    let tokens =
        all.into_iter().map(|(values, count)| Tokens { value: Value::tuple(values), when: When::NOW, count });
    Ok(Value::Ms(Multiset::collect(tokens.collect()).into()))
}

impl Program {
    /// The elements of a colour set in their order; none if there are too many.
    pub fn elements(&self, colset: usize) -> Option<Vec<Value>> {
        let found = match &self.colsets[colset].kind {
            Kind::Unit(_) => vec![Value::Unit],
            Kind::Bool(_) => vec![Value::Bool(false), Value::Bool(true)],
            Kind::Int(Some((low, high))) => (high.checked_sub(*low)? < LARGEST_DOMAIN as i64)
                .then(|| (*low..=*high).map(Value::Int).collect())?,
            Kind::Int(None) | Kind::Real(_) | Kind::Str(..) | Kind::Time | Kind::List(..) => return None,
            Kind::Enum(first, n) => (0..*n).map(|at| Value::Con(Symbol(first.0 + at))).collect(),
            Kind::Index(symbol, low, high) => (high.checked_sub(*low)? < LARGEST_DOMAIN as i64)
                .then(|| (*low..=*high).map(|at| Value::Index(*symbol, at)).collect())?,
            Kind::Product(parts) => self.tuples(parts)?.into_iter().map(Value::tuple).collect(),
            Kind::Record(fields) => {
                let parts: Vec<_> = fields.iter().map(|&(_, colset, _)| colset).collect();
                let placed = |values: Vec<Value>| {
                    let mut record = values.clone();
                    fields.iter().zip(values).for_each(|((_, _, place), value)| record[*place] = value);
                    Value::tuple(record)
                };
                self.tuples(&parts)?.into_iter().map(placed).collect()
            }
            Kind::Union(parts) => {
                let mut all = Vec::new();
                for (symbol, of) in parts {
                    match of {
                        None => all.push(Value::Con(*symbol)),
                        Some(of) => {
                            all.extend(
                                self.elements(*of)?.into_iter().map(|of| Value::Apply(*symbol, of.into())),
                            );
                        }
                    }
                }
                all
            }
            Kind::SubsetWith(_, values) => values.clone(),
            Kind::SubsetBy(of, _) => {
                let all = self.elements(*of)?;
                all.into_iter().filter(|value| self.contains(colset, value)).collect()
            }
        };
        (found.len() as u64 <= LARGEST_DOMAIN).then_some(found)
    }

    fn tuples(&self, parts: &[usize]) -> Option<Vec<Vec<Value>>> {
        let mut all = vec![Vec::new()];
        for &part in parts {
            let elements = self.elements(part)?;
            if all.len() * elements.len() > LARGEST_DOMAIN as usize {
                return None;
            }
            all = all
                .iter()
                .flat_map(|values: &Vec<Value>| {
                    elements.iter().map(move |element| {
                        let mut longer = values.clone();
                        longer.push(element.clone());
                        longer
                    })
                })
                .collect();
        }
        Some(all)
    }

    /// True if a value of the right type is an element of the colour set.
    pub fn contains(&self, colset: usize, value: &Value) -> bool {
        let colset = &self.colsets[colset];
        if !colset.is_restricted {
            return true;
        }
        match (&colset.kind, value) {
            (Kind::Int(Some((low, high))), Value::Int(value)) => low <= value && value <= high,
            (Kind::Real(Some((low, high))), Value::Real(value)) => low <= value && value <= high,
            (Kind::Str(characters, lengths), Value::Str(text)) => {
                let are_in = characters.as_ref().is_none_or(|(low, high)| {
                    text.chars().all(|c| low.as_str() <= c.to_string().as_str() && c.to_string() <= *high)
                });
                let length = text.chars().count() as i64;
                are_in && lengths.is_none_or(|(low, high)| low <= length && length <= high)
            }
            (Kind::Index(_, low, high), Value::Index(_, number)) => low <= number && number <= high,
            (Kind::Product(parts), Value::Tuple(values)) => {
                parts.iter().zip(values.iter()).all(|(&part, value)| self.contains(part, value))
            }
            (Kind::Record(fields), Value::Tuple(values)) => {
                fields.iter().all(|&(_, of, place)| self.contains(of, &values[place]))
            }
            (Kind::List(of, lengths), Value::List(list)) => {
                let length = list.len() as i64;
                lengths.is_none_or(|(low, high)| low <= length && length <= high)
                    && list.as_slice().iter().all(|item| self.contains(*of, item))
            }
            (Kind::Union(parts), Value::Apply(symbol, value)) => parts
                .iter()
                .any(|(known, of)| known == symbol && of.is_some_and(|of| self.contains(of, value))),
            (Kind::SubsetWith(_, values), value) => values.contains(value),
            (Kind::SubsetBy(of, function), value) => {
                self.contains(*of, value) && self.holds(function, value.clone())
            }
            _ => true,
        }
    }

    /// An element of an index.
    pub fn index(&self, symbol: Symbol, number: i64) -> Evaluated {
        match self.index_ranges.get(&symbol) {
            Some(&(low, high)) if !(low..=high).contains(&number) => {
                let name = &self.symbols[symbol.0 as usize];
                Err(Fault::new(
                    exceptions::SUBSCRIPT,
                    format!("{name}({number}) is not within {low}..{high}"),
                ))
            }
            _ => Ok(Value::Index(symbol, number)),
        }
    }

    /// An element of a colour set, as it is written in CPN ML.
    pub fn shown_in(&self, colset: usize, value: &Value) -> String {
        let joined = |parts: Vec<String>| parts.join(",");
        match (&self.colsets[colset].kind, value) {
            (Kind::Unit(Some(name)), Value::Unit) => name.clone(),
            (Kind::Bool(Some((no, yes))), Value::Bool(value)) => (if *value { yes } else { no }).clone(),
            (Kind::Product(parts), Value::Tuple(values)) => {
                let parts = parts.iter().zip(values.iter()).map(|(&part, value)| self.shown_in(part, value));
                format!("({})", joined(parts.collect()))
            }
            (Kind::Record(fields), Value::Tuple(values)) => {
                let fields = fields
                    .iter()
                    .map(|(label, of, place)| format!("{label}={}", self.shown_in(*of, &values[*place])));
                format!("{{{}}}", joined(fields.collect()))
            }
            (Kind::List(of, _), Value::List(list)) => {
                format!("[{}]", joined(list.as_slice().iter().map(|item| self.shown_in(*of, item)).collect()))
            }
            (Kind::Union(parts), Value::Apply(symbol, value)) => {
                let of = parts.iter().find(|(known, _)| known == symbol).and_then(|(_, of)| *of);
                let argument = of.map_or_else(|| self.shown(value), |of| self.shown_in(of, value));
                let name = &self.symbols[symbol.0 as usize];
                if argument.starts_with('(') {
                    format!("{name}{argument}")
                } else {
                    format!("{name}({argument})")
                }
            }
            (Kind::SubsetBy(of, _) | Kind::SubsetWith(of, _), value) => self.shown_in(*of, value),
            (_, value) => self.shown(value),
        }
    }

    /// A value, as it is written in CPN ML; the fields of a record have no labels.
    pub fn shown(&self, value: &Value) -> String {
        let all = |parts: &[Value]| parts.iter().map(|part| self.shown(part)).collect::<Vec<_>>().join(",");
        match value {
            Value::Unit => "()".into(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => shown_int(*value),
            Value::Real(value) => shown_real(*value),
            Value::Str(text) => quoted(text),
            Value::Tuple(parts) => format!("({})", all(parts)),
            Value::List(list) => format!("[{}]", all(list.as_slice())),
            Value::Con(symbol) => self.symbols[symbol.0 as usize].clone(),
            Value::Apply(symbol, value) => {
                format!("{}({})", self.symbols[symbol.0 as usize], self.shown(value))
            }
            Value::Index(symbol, number) => {
                format!("{}({})", self.symbols[symbol.0 as usize], shown_int(*number))
            }
            Value::Fn(_) => "fn".into(),
            Value::Ref(_) => "ref".into(),
            Value::Ms(multiset) => self.tokens_shown(multiset, |value| self.shown(value)),
        }
    }

    /// A multiset of a colour set, as it is written in CPN ML.
    pub fn multiset_shown_in(&self, colset: usize, multiset: &Multiset) -> String {
        self.tokens_shown(multiset, |value| self.shown_in(colset, value))
    }

    fn tokens_shown(&self, multiset: &Multiset, shown: impl Fn(&Value) -> String) -> String {
        if multiset.is_empty() {
            return "empty".into();
        }
        let term = |tokens: &Tokens| {
            let stamp = match tokens.when {
                When::NOW => String::new(),
                When::After(delay) => format!("@+{}", self.time_shown(delay)),
                When::At(time) => format!("@{}", self.time_shown(time)),
            };
            format!("{}`{}{stamp}", tokens.count, shown(&tokens.value))
        };
        multiset.0.iter().map(term).collect::<Vec<_>>().join("++")
    }

    /// A time or a delay.
    pub fn time_shown(&self, time: crate::value::Stamp) -> String {
        match self.time {
            TimeKind::Integer => time.0.to_string(),
            TimeKind::Real => shown_real(time.as_real()),
        }
    }
}

/// An integer of CPN ML: a negative one has a tilde.
pub fn shown_int(value: i64) -> String {
    value.to_string().replace('-', "~")
}

/// A real number of CPN ML: with a point, and a tilde for minus.
pub fn shown_real(value: f64) -> String {
    format!("{value:?}").replace('-', "~").replace('e', "E")
}

/// A string of CPN ML, in quotes.
pub fn quoted(text: &str) -> String {
    let mut found = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => found.push_str("\\\""),
            '\\' => found.push_str("\\\\"),
            '\n' => found.push_str("\\n"),
            '\t' => found.push_str("\\t"),
            c if c.is_ascii_control() => found.push_str(&format!("\\{:03}", u32::from(c))),
            c => found.push(c),
        }
    }
    found.push('"');
    found
}
