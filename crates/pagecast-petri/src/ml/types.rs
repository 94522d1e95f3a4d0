//! Represents the types of CPN ML, and makes them equal: Hindley-Milner with classes for overloaded operators.
//!
//! `'a ms` and `'a list` fit each other where a function of the library is called: in CPN Tools a multiset is a list.

use std::collections::HashMap;
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Not known yet, or any type.
    Var(u32),
    /// A named type with its arguments: `int`, `'a list`, an enumeration.
    Con(Arc<str>, Vec<Type>),
    /// A product.
    Tuple(Vec<Type>),
    /// A record, in the order of its labels.
    Record(Arc<[String]>, Vec<Type>),
    /// A function.
    Fn(Box<Type>, Box<Type>),
}

/// Which types an overloaded operator takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Class {
    /// Every type.
    #[default]
    Any,
    /// `int` and `real`.
    Number,
    /// `int`, `real`, `string` and `char`.
    Ordered,
    /// `string`, lists and multisets.
    Sized,
}

/// A type with variables for which any type may stand.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// The variables, with their classes.
    pub vars: Vec<(u32, Class)>,
    /// The type.
    pub of: Type,
}

impl Scheme {
    /// A type without such variables.
    pub fn mono(of: Type) -> Self {
        Self { vars: Vec::new(), of }
    }
}

impl Type {
    /// A type without arguments.
    pub fn named(name: &str) -> Self {
        Self::Con(name.into(), Vec::new())
    }

    /// `int`.
    pub fn int() -> Self {
        Self::named("int")
    }

    /// `real`.
    pub fn real() -> Self {
        Self::named("real")
    }

    /// `bool`.
    pub fn bool() -> Self {
        Self::named("bool")
    }

    /// `string`.
    pub fn string() -> Self {
        Self::named("string")
    }

    /// `unit`.
    pub fn unit() -> Self {
        Self::named("unit")
    }

    /// `of list`.
    pub fn list(of: Type) -> Self {
        Self::Con("list".into(), vec![of])
    }

    /// `of ms`.
    pub fn ms(of: Type) -> Self {
        Self::Con("ms".into(), vec![of])
    }

    /// True for values without functions and references in them.
    pub fn is_data(&self) -> bool {
        match self {
            Self::Var(_) => true,
            Self::Con(name, parts) => &**name != "ref" && parts.iter().all(Self::is_data),
            Self::Tuple(parts) | Self::Record(_, parts) => parts.iter().all(Self::is_data),
            Self::Fn(..) => false,
        }
    }

    /// A function.
    pub fn function(from: Type, to: Type) -> Self {
        Self::Fn(Box::new(from), Box::new(to))
    }
}

#[derive(Clone, Debug)]
struct Var {
    link: Option<Type>,
    level: u32,
    class: Class,
}

/// The variables of a check.
#[derive(Clone, Debug, Default)]
pub struct Vars {
    all: Vec<Var>,
    /// How deep inside `let` and `fun` the check is: variables made deeper may be generalised.
    pub level: u32,
    /// True while a list may stand for a multiset, and the other way round.
    pub lists_fit: bool,
}

impl Vars {
    /// A new variable.
    pub fn fresh(&mut self, class: Class) -> Type {
        self.all.push(Var { link: None, level: self.level, class });
        Type::Var(self.all.len() as u32 - 1)
    }

    /// The type with its outermost variable replaced, if that is known.
    pub fn head(&self, of: &Type) -> Type {
        let mut of = of;
        while let Type::Var(var) = of {
            match &self.all[*var as usize].link {
                Some(link) => of = link,
                None => break,
            }
        }
        of.clone()
    }

    /// The type with all known variables replaced.
    pub fn resolved(&self, of: &Type) -> Type {
        match self.head(of) {
            Type::Con(name, arguments) => {
                Type::Con(name, arguments.iter().map(|of| self.resolved(of)).collect())
            }
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|of| self.resolved(of)).collect()),
            Type::Record(labels, parts) => {
                Type::Record(labels, parts.iter().map(|of| self.resolved(of)).collect())
            }
            Type::Fn(from, to) => Type::function(self.resolved(&from), self.resolved(&to)),
            var => var,
        }
    }

    /// Makes two types equal; false where they cannot be.
    pub fn unify(&mut self, a: &Type, b: &Type) -> bool {
        match (self.head(a), self.head(b)) {
            (Type::Var(a), Type::Var(b)) if a == b => true,
            (Type::Var(var), of) | (of, Type::Var(var)) => self.link(var, of),
            (Type::Con(a, x), Type::Con(b, y)) => {
                let fit = |a: &str, b: &str| a == "ms" && b == "list";
                (a == b || self.lists_fit && (fit(&a, &b) || fit(&b, &a)))
                    && x.len() == y.len()
                    && self.unify_all(&x, &y)
            }
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && self.unify_all(&a, &b),
            (Type::Record(a, x), Type::Record(b, y)) => a == b && self.unify_all(&x, &y),
            (Type::Fn(a, x), Type::Fn(b, y)) => self.unify(&a, &b) && self.unify(&x, &y),
            _ => false,
        }
    }

    fn unify_all(&mut self, a: &[Type], b: &[Type]) -> bool {
        a.iter().zip(b).all(|(a, b)| self.unify(a, b))
    }

    fn link(&mut self, var: u32, of: Type) -> bool {
        let Var { level, class, .. } = self.all[var as usize];
        if let Type::Var(other) = of {
            let kept = &mut self.all[other as usize];
            kept.level = kept.level.min(level);
            match narrower(kept.class, class) {
                Some(class) => kept.class = class,
                None => return false,
            }
        } else if !is_of(&of, class) || !self.lower(var, &of, level) {
            return false;
        }
        self.all[var as usize].link = Some(of);
        true
    }

    /// Puts the variables of a type on at most this level; false if `var` is one of them.
    fn lower(&mut self, var: u32, of: &Type, level: u32) -> bool {
        match self.head(of) {
            Type::Var(inner) => {
                let found = &mut self.all[inner as usize];
                found.level = found.level.min(level);
                inner != var
            }
            Type::Con(_, parts) | Type::Tuple(parts) | Type::Record(_, parts) => {
                parts.iter().all(|part| self.lower(var, part, level))
            }
            Type::Fn(from, to) => self.lower(var, &from, level) && self.lower(var, &to, level),
        }
    }

    /// The type with every variable that belongs to a deeper level free; overloaded ones become `int` (or `string`).
    pub fn generalised(&mut self, of: &Type) -> Scheme {
        self.settle(of);
        self.quantified(of)
    }

    /// The same, with overloaded variables free, too: the type of an operator.
    pub fn quantified(&self, of: &Type) -> Scheme {
        let of = self.resolved(of);
        let mut vars = Vec::new();
        self.collect(&of, &mut vars);
        Scheme { vars, of }
    }

    fn collect(&self, of: &Type, found: &mut Vec<(u32, Class)>) {
        match of {
            Type::Var(var) => {
                let Var { level, class, .. } = self.all[*var as usize];
                if level > self.level && !found.iter().any(|(known, _)| known == var) {
                    found.push((*var, class));
                }
            }
            Type::Con(_, parts) | Type::Tuple(parts) | Type::Record(_, parts) => {
                parts.iter().for_each(|part| self.collect(part, found));
            }
            Type::Fn(from, to) => {
                self.collect(from, found);
                self.collect(to, found);
            }
        }
    }

    /// Gives overloaded variables of a type their default.
    fn settle(&mut self, of: &Type) {
        match self.head(of) {
            Type::Var(var) => {
                let Var { level, class, .. } = self.all[var as usize];
                if level > self.level && class != Class::Any {
                    let default = if class == Class::Sized { Type::string() } else { Type::int() };
                    self.all[var as usize].link = Some(default);
                }
            }
            Type::Con(_, parts) | Type::Tuple(parts) | Type::Record(_, parts) => {
                parts.iter().for_each(|part| self.settle(part));
            }
            Type::Fn(from, to) => {
                self.settle(&from);
                self.settle(&to);
            }
        }
    }

    /// A type of a scheme, with new variables.
    pub fn instance(&mut self, scheme: &Scheme) -> Type {
        if scheme.vars.is_empty() {
            return scheme.of.clone();
        }
        let fresh: HashMap<u32, Type> =
            scheme.vars.iter().map(|&(var, class)| (var, self.fresh(class))).collect();
        replaced(&scheme.of, &fresh)
    }

    /// The type as it is written.
    pub fn shown(&self, of: &Type) -> String {
        shown(&self.resolved(of), &mut Vec::new(), false)
    }

    /// Two types as they are written, with the same letters for the same variables.
    pub fn shown_both(&self, a: &Type, b: &Type) -> (String, String) {
        let mut letters = Vec::new();
        (shown(&self.resolved(a), &mut letters, false), shown(&self.resolved(b), &mut letters, false))
    }
}

/// A type with some variables replaced.
pub fn replaced(of: &Type, by: &HashMap<u32, Type>) -> Type {
    let all = |parts: &[Type]| parts.iter().map(|part| replaced(part, by)).collect();
    match of {
        Type::Var(var) => by.get(var).cloned().unwrap_or_else(|| of.clone()),
        Type::Con(name, parts) => Type::Con(name.clone(), all(parts)),
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::Record(labels, parts) => Type::Record(labels.clone(), all(parts)),
        Type::Fn(from, to) => Type::function(replaced(from, by), replaced(to, by)),
    }
}

fn is_of(of: &Type, class: Class) -> bool {
    let Type::Con(name, _) = of else { return class == Class::Any };
    match class {
        Class::Any => true,
        Class::Number => matches!(&**name, "int" | "real"),
        Class::Ordered => matches!(&**name, "int" | "real" | "string" | "char"),
        Class::Sized => matches!(&**name, "string" | "list" | "ms"),
    }
}

fn narrower(a: Class, b: Class) -> Option<Class> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (Class::Any, other) | (other, Class::Any) => Some(other),
        (Class::Number, Class::Ordered) | (Class::Ordered, Class::Number) => Some(Class::Number),
        _ => None,
    }
}

fn shown(of: &Type, letters: &mut Vec<u32>, in_brackets: bool) -> String {
    let bracketed = |text: String| if in_brackets { format!("({text})") } else { text };
    match of {
        Type::Var(var) => {
            let at = letters.iter().position(|known| known == var).unwrap_or_else(|| {
                letters.push(*var);
                letters.len() - 1
            });
            format!("'{}", char::from(b'a' + (at % 26) as u8))
        }
        Type::Con(name, parts) if parts.is_empty() => name.to_string(),
        Type::Con(name, parts) => format!("{} {name}", shown(&parts[0], letters, true)),
        Type::Tuple(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| shown(part, letters, true)).collect();
            bracketed(parts.join(" * "))
        }
        Type::Record(labels, parts) => {
            let fields =
                labels.iter().zip(parts).map(|(label, of)| format!("{label}: {}", shown(of, letters, false)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Type::Fn(from, to) => {
            let from = shown(from, letters, true);
            bracketed(format!("{from} -> {}", shown(to, letters, false)))
        }
    }
}
