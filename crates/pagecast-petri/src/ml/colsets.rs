//! Declares colour sets: their elements, types, constructors and functions.

use std::collections::HashMap;

use super::ast::{Colset as Declared, ColsetKind, Expr};
use super::check::Checker;
use super::code::{Callee, Function};
use super::program::{Meaning, Program, nearest};
use super::types::{Scheme, Type, replaced};
use crate::colset::{Colset, ColsetFn, Kind};
use crate::error::MlError;
use crate::value::{Symbol, Value};

impl Program {
    /// The colour sets that CPN Tools has in every net; a net may declare them again.
    pub(super) fn standard_colsets(&mut self) {
        let plain = [
            ("UNIT", Kind::Unit(None)),
            ("BOOL", Kind::Bool(None)),
            ("INT", Kind::Int(None)),
            ("INTINF", Kind::Int(None)),
            ("TIME", Kind::Time),
            ("REAL", Kind::Real(None)),
            ("STRING", Kind::Str(None, None)),
        ];
        for (name, kind) in plain {
            let of = self.type_of_kind(&kind);
            self.add_colset(Colset { name: name.into(), of, kind, timed: false, is_restricted: false });
        }
    }

    fn add_colset(&mut self, colset: Colset) -> usize {
        let number = self.colsets.len();
        let name = colset.name.clone();
        self.types.insert(name.clone(), colset.of.clone());
        for (function, meaning, of) in ColsetFn::ALL {
            let scheme = Scheme::mono(self.colset_function(of, &colset.of));
            let value = Function::value(Callee::Colset(meaning, number as u32));
            self.set(&format!("{name}.{function}"), scheme, Meaning::Value(value));
        }
        for (function, meaning, of) in self.functions_of_parts(&colset) {
            let value = Function::value(Callee::Colset(meaning, number as u32));
            self.set(&format!("{name}.{function}"), Scheme::mono(of), Meaning::Value(value));
        }
        self.colset_numbers.insert(name, number);
        self.colsets.push(colset);
        number
    }

    /// The functions of a product, a record or a union that are named after its parts, with their types.
    fn functions_of_parts(&self, colset: &Colset) -> Vec<(String, ColsetFn, Type)> {
        let whole = &colset.of;
        let setter = |label: String, place: usize, part: usize| {
            let of = Type::function(self.colsets[part].of.clone(), whole.clone());
            (format!("set_{label}"), ColsetFn::Set(place as u32), Type::function(whole.clone(), of))
        };
        match &colset.kind {
            Kind::Product(parts) => {
                let multisets = parts.iter().map(|&part| Type::ms(self.colsets[part].of.clone())).collect();
                let of = Type::function(Type::Tuple(multisets), Type::ms(whole.clone()));
                let setters = parts
                    .iter()
                    .enumerate()
                    .map(|(place, &part)| setter((place + 1).to_string(), place, part));
                setters.chain([("mult".into(), ColsetFn::Product, of)]).collect()
            }
            Kind::Record(fields) => {
                fields.iter().map(|(label, part, place)| setter(label.clone(), *place, *part)).collect()
            }
            Kind::Union(parts) => {
                let test = |&(symbol, _): &(Symbol, _)| {
                    let of = Type::function(whole.clone(), Type::bool());
                    (format!("of_{}", self.symbols[symbol.0 as usize]), ColsetFn::Is(symbol), of)
                };
                parts.iter().map(test).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The type of a function of a colour set: `C` stands for the elements.
    fn colset_function(&self, of: &str, element: &Type) -> Type {
        let written = of.replace('C', "'c");
        let mut parser = super::parser::Parser::new(&written).expect("a type of ours");
        let written = parser.type_expression().expect("a type of ours");
        let mut checker = Checker::new(self);
        let of = checker.written(&written).expect("a type of ours");
        replaced(&of, &HashMap::from([(0, element.clone())]))
    }

    fn type_of_kind(&self, kind: &Kind) -> Type {
        match kind {
            Kind::Unit(_) => Type::unit(),
            Kind::Bool(_) => Type::bool(),
            Kind::Int(_) => Type::int(),
            Kind::Real(_) => Type::real(),
            Kind::Time => self.types["time"].clone(),
            _ => Type::string(),
        }
    }

    fn part(&self, name: &str, at: usize) -> Result<usize, MlError> {
        self.colset(name).ok_or_else(|| {
            MlError::new(
                at,
                match nearest(name, self.colset_names()) {
                    Some(near) => format!("there is no colour set `{name}`; did you mean `{near}`?"),
                    None => format!("there is no colour set `{name}`; declare it above"),
                },
            )
        })
    }

    /// Declares a colour set, its constructors and its functions.
    pub(super) fn declare_colset(&mut self, declared: &Declared) -> Result<(), MlError> {
        let name = &declared.name;
        let nominal = Type::named(name);
        let mut constructors: Vec<(String, Scheme, Meaning)> = Vec::new();
        let (kind, of) = match &declared.kind {
            ColsetKind::Unit(element) => {
                if let Some(element) = element {
                    constructors.push((
                        element.clone(),
                        Scheme::mono(Type::unit()),
                        Meaning::Constant(Value::Unit),
                    ));
                }
                (Kind::Unit(element.clone()), Type::unit())
            }
            ColsetKind::Bool(names) => {
                if let Some((no, yes)) = names {
                    for (name, value) in [(no, false), (yes, true)] {
                        let meaning = Meaning::Constant(Value::Bool(value));
                        constructors.push((name.clone(), Scheme::mono(Type::bool()), meaning));
                    }
                }
                (Kind::Bool(names.clone()), Type::bool())
            }
            ColsetKind::Int(range) => (Kind::Int(self.integers(range)?), Type::int()),
            ColsetKind::Real(range) => (Kind::Real(self.reals(range)?), Type::real()),
            ColsetKind::Str(characters, lengths) => {
                let characters = match characters {
                    None => None,
                    Some((low, high)) => Some((self.text(low)?, self.text(high)?)),
                };
                (Kind::Str(characters, self.integers(lengths)?), Type::string())
            }
            ColsetKind::Time => (Kind::Time, self.types["time"].clone()),
            ColsetKind::Enum(elements) => {
                let first = Symbol(self.symbols.len() as u32);
                for (element, _) in elements {
                    let symbol = self.symbol(element);
                    let meaning = Meaning::Constructor(symbol, false);
                    constructors.push((element.clone(), Scheme::mono(nominal.clone()), meaning));
                }
                (Kind::Enum(first, elements.len() as u32), nominal)
            }
            ColsetKind::Index(constructor, low, high) => {
                let (low, high) = (self.integer(low)?, self.integer(high)?);
                let symbol = self.symbol(constructor);
                self.index_ranges.insert(symbol, (low, high));
                let of = Type::function(Type::int(), nominal.clone());
                constructors.push((constructor.clone(), Scheme::mono(of), Meaning::Index(symbol)));
                (Kind::Index(symbol, low, high), nominal)
            }
            ColsetKind::Product(parts) => {
                let parts =
                    parts.iter().map(|(part, at)| self.part(part, *at)).collect::<Result<Vec<_>, _>>()?;
                if parts.len() < 2 {
                    return Err(MlError::new(declared.at, "a product wants two colour sets or more"));
                }
                let types = parts.iter().map(|&part| self.colsets[part].of.clone()).collect();
                (Kind::Product(parts), Type::Tuple(types))
            }
            ColsetKind::Record(fields) => self.record(declared.at, fields)?,
            ColsetKind::List(item, at, lengths) => {
                let item = self.part(item, *at)?;
                let of = Type::list(self.colsets[item].of.clone());
                (Kind::List(item, self.integers(lengths)?), of)
            }
            ColsetKind::Union(parts) => {
                let mut all = Vec::new();
                for (constructor, of) in parts {
                    let of = match of {
                        None => None,
                        Some((part, at)) => Some(self.part(part, *at)?),
                    };
                    let symbol = self.symbol(constructor);
                    let scheme = Scheme::mono(match of {
                        None => nominal.clone(),
                        Some(of) => Type::function(self.colsets[of].of.clone(), nominal.clone()),
                    });
                    constructors.push((
                        constructor.clone(),
                        scheme,
                        Meaning::Constructor(symbol, of.is_some()),
                    ));
                    all.push((symbol, of));
                }
                (Kind::Union(all), nominal)
            }
            ColsetKind::Alias(of, at) => {
                let of = &self.colsets[self.part(of, *at)?];
                (of.kind.clone(), of.of.clone())
            }
            ColsetKind::SubsetBy(of, at, condition) => {
                let number = self.part(of, *at)?;
                let of = self.colsets[number].of.clone();
                self.checked(condition, &Type::function(of.clone(), Type::bool()))?;
                let condition = self.settle(condition)?;
                (Kind::SubsetBy(number, condition), of)
            }
            ColsetKind::SubsetWith(of, at, elements) => {
                let number = self.part(of, *at)?;
                let of = self.colsets[number].of.clone();
                match self.value_of(elements, &Type::list(of.clone()))? {
                    Value::List(list) => (Kind::SubsetWith(number, list.as_slice().to_vec()), of),
                    _ => {
                        return Err(MlError::new(elements.at, "expected a list of elements, as in `[1, 2]`"));
                    }
                }
            }
        };
        for (name, scheme, meaning) in constructors {
            self.set(&name, scheme, meaning);
        }
        let is_restricted = self.is_restricted(&kind);
        self.add_colset(Colset { name: name.clone(), of, kind, timed: declared.timed, is_restricted });
        Ok(())
    }

    fn record(&self, at: usize, fields: &[(String, String, usize)]) -> Result<(Kind, Type), MlError> {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by(|&a, &b| fields[a].0.cmp(&fields[b].0));
        if let Some(twice) = order.windows(2).find(|pair| fields[pair[0]].0 == fields[pair[1]].0) {
            return Err(MlError::new(at, format!("the field `{}` is declared twice", fields[twice[0]].0)));
        }
        let mut kinds = Vec::new();
        for (field, (label, colset, at)) in fields.iter().enumerate() {
            let place = order.iter().position(|&sorted| sorted == field).expect("each field has a place");
            kinds.push((label.clone(), self.part(colset, *at)?, place));
        }
        let labels: Vec<String> = order.iter().map(|&field| fields[field].0.clone()).collect();
        let types = order.iter().map(|&field| self.colsets[kinds[field].1].of.clone()).collect();
        Ok((Kind::Record(kinds), Type::Record(labels.into(), types)))
    }

    fn is_restricted(&self, kind: &Kind) -> bool {
        let of = |&part: &usize| self.colsets[part].is_restricted;
        match kind {
            Kind::Unit(_) | Kind::Bool(_) | Kind::Enum(..) | Kind::Time => false,
            Kind::Int(range) => range.is_some(),
            Kind::Real(range) => range.is_some(),
            Kind::Str(characters, lengths) => characters.is_some() || lengths.is_some(),
            Kind::Index(..) => false,
            Kind::SubsetBy(..) | Kind::SubsetWith(..) => true,
            Kind::Product(parts) => parts.iter().any(of),
            Kind::Record(fields) => fields.iter().any(|(_, part, _)| of(part)),
            Kind::List(item, lengths) => lengths.is_some() || of(item),
            Kind::Union(parts) => parts.iter().any(|(_, part)| part.as_ref().is_some_and(of)),
        }
    }

    fn integer(&self, expr: &Expr) -> Result<i64, MlError> {
        match self.value_of(expr, &Type::int())? {
            Value::Int(value) => Ok(value),
            other => unreachable!("the type check lets {other:?} be no integer"),
        }
    }

    fn integers(&self, range: &Option<(Expr, Expr)>) -> Result<Option<(i64, i64)>, MlError> {
        let Some((low, high)) = range else { return Ok(None) };
        let (first, last) = (self.integer(low)?, self.integer(high)?);
        if first > last {
            return Err(MlError::new(low.at, format!("the range {first}..{last} is empty")));
        }
        Ok(Some((first, last)))
    }

    fn reals(&self, range: &Option<(Expr, Expr)>) -> Result<Option<(f64, f64)>, MlError> {
        let Some((low, high)) = range else { return Ok(None) };
        match (self.value_of(low, &Type::real())?, self.value_of(high, &Type::real())?) {
            (Value::Real(low), Value::Real(high)) => Ok(Some((low, high))),
            other => unreachable!("the type check lets {other:?} be no real numbers"),
        }
    }

    fn text(&self, expr: &Expr) -> Result<String, MlError> {
        match self.value_of(expr, &Type::string())? {
            Value::Str(text) => Ok(text.to_string()),
            other => unreachable!("the type check lets {other:?} be no string"),
        }
    }
}
